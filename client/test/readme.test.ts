import { expect, test } from 'vitest';
import { DEFAULT_LIMITS } from '../src/options.ts';
import type { CreateOptions, StoreOptions } from '../src/types.ts';
import { README } from './documents.ts';

const { deadlineMs, attemptTimeoutMs, maxAttempts } = DEFAULT_LIMITS;
const DEFAULTS: Record<keyof StoreOptions | keyof CreateOptions, string> = {
  deadlineMs: deadlineMs.toLocaleString('en'),
  attemptTimeoutMs: attemptTimeoutMs.toLocaleString('en'),
  maxAttempts: `${maxAttempts}`,
  signal: 'none',
  headers: 'none',
  idempotencyKey: 'random',
  baseUrl: 'required',
  apiKey: 'required',
  fetch: 'the global',
};

test('client/README.md has every option, with its default', () => {
  const [, options = ''] = README.split('\n## Options');
  const rows = options.matchAll(/^\| `(\w+)` +\| (.+?) +\|/gm);
  const defaults = Array.from(rows, ([, name, value]) => [name, value]);
  expect(Object.fromEntries(defaults)).toEqual(DEFAULTS);
});
