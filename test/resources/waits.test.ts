/** How long a request waits for KV and D1, if each call of a binding takes some time. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { generateKey } from '../../ops/keys/generate-key.ts';
import { KV_DEADLINE_MS } from '../../src/auth/key-lookup.ts';
import { DEADLINE_MS } from '../../src/d1/execute.ts';
import { operations } from '../support/contract.ts';
import { sendInProcess, stubBindings } from '../support/stubs.ts';

const LATENCY_MS = { KV: 80, D1: 150 };
const RECORDED = 'UNIQUE constraint failed: idempotency_keys.key_hash';

const bindingsOf = (isKnown: boolean) =>
  stubBindings(async (binding, value) => {
    // The time passes while the caller waits for the promise, not in the call that returns it.
    await Promise.resolve();
    vi.advanceTimersByTime(LATENCY_MS[binding]);
    return value;
  }, isKnown);

beforeEach(() => {
  vi.spyOn(console, 'log').mockImplementation(() => {});
  vi.useFakeTimers({
    now: new Date('2026-11-20T12:00:00Z'),
    toFake: ['Date', 'performance', 'setTimeout', 'clearTimeout'],
  });
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

const CALLS = operations
  .filter(({ operation }) => !operation.security)
  .map(({ operationId, method, examplePath, exampleBody }) => ({
    operationId,
    method,
    path: examplePath,
    ...(exampleBody && { body: JSON.stringify(exampleBody) }),
  }));

test.each(CALLS)(
  '$operationId waits for D1 once, and for KV only without a cached key',
  async (call) => {
    const key = generateKey('production');
    const started = vi.spyOn(globalThis, 'setTimeout');
    const cleared = vi.spyOn(globalThis, 'clearTimeout');
    await sendInProcess(call, bindingsOf(true), key);
    await sendInProcess(call, bindingsOf(true), key);
    await sendInProcess(call, bindingsOf(false), generateKey('production'));
    expect(vi.mocked(console.log).mock.calls.map(([line]) => JSON.parse(line))).toMatchObject([
      // The time of the response.
      { time: '2026-11-20T12:00:00.230Z', durationMs: 230, kvMs: 80, d1Ms: 150, keyId: 'stub' },
      { durationMs: 150, d1Ms: 150, keyId: 'stub' },
      { durationMs: 80, kvMs: 80, status: 401 },
    ]);
    // Other tests of this process may have timers.
    const deadlines = started.mock.calls.flatMap(([, ms], i) =>
      ms === KV_DEADLINE_MS || ms === DEADLINE_MS ? [[started.mock.results[i]?.value]] : [],
    );
    expect(deadlines).toHaveLength(4);
    expect(cleared.mock.calls).toEqual(expect.arrayContaining(deadlines));
  },
);

test('a retry of a create waits for D1 twice', async () => {
  let calls = 0;
  const bindings = stubBindings(async (binding, value) => {
    await Promise.resolve();
    vi.advanceTimersByTime(LATENCY_MS[binding]);
    if (binding === 'D1') calls += 1;
    if (calls === 1) throw new Error(`D1_ERROR: ${RECORDED}: SQLITE_CONSTRAINT`);
    return value;
  });
  const create = CALLS.find(({ operationId }) => operationId === 'createPet');
  const retry = { path: '', ...create, headers: { 'idempotency-key': 'k' } };
  const { headers } = await sendInProcess(retry, bindings, generateKey('production'));
  expect(headers.get('idempotency-replayed')).toBe('true');
  expect(vi.mocked(console.log).mock.calls.map(([line]) => JSON.parse(line))).toMatchObject([
    { d1Ms: 2 * LATENCY_MS.D1 },
  ]);
});

// D1 repeats a read that fails, unless it is in a batch.
test.each(CALLS.filter(({ method }) => method === 'GET'))(
  '$operationId is one statement outside a batch',
  async (call) => {
    const bindings = stubBindings();
    const batch = vi.spyOn(bindings.DB, 'batch');
    const { status } = await sendInProcess(call, bindings, generateKey('production'));
    expect(status).toBe(200);
    expect(batch).not.toHaveBeenCalled();
  },
);
