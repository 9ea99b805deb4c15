import { expect, onTestFinished, test, vi } from 'vitest';
import { withDeadline } from '../src/deadline.ts';

test.each([async () => 1, async () => Promise.reject(new Error('KV is down'))])(
  'no timer outlives a call that has ended: %s',
  async (call) => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    await withDeadline(call(), 5_000, 'KV').catch(() => {});
    expect(vi.getTimerCount()).toBe(0);
  },
);
