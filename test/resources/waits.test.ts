/** How long a request waits for KV and D1, if each call of a binding takes some time. */
import { expect, test, vi } from 'vitest';
import { generateKey } from '../../ops/keys/generate-key.ts';
import { operations } from '../support/contract.ts';
import { stopTime } from '../support/in-process.ts';
import { sendInProcess, stubBindings } from '../support/stubs.ts';

const LATENCY_MS = { KV: 80, D1: 150 };
const NOON = Date.parse('2026-11-20T12:00:00Z');

/** The time passes while the caller waits for the promise, not in the call that returns it. */
async function takeTime(binding: 'KV' | 'D1') {
  await Promise.resolve();
  vi.advanceTimersByTime(LATENCY_MS[binding]);
}

const bindingsOf = (isKnown: boolean) =>
  stubBindings(async (binding, value) => {
    await takeTime(binding);
    return value;
  }, isKnown);

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
    const logLines = stopTime(NOON);
    const key = generateKey('production');
    await sendInProcess(call, bindingsOf(true), key);
    await sendInProcess(call, bindingsOf(true), key);
    await sendInProcess(call, bindingsOf(false), generateKey('production'));
    expect(logLines()).toMatchObject([
      // The time of the response.
      { time: '2026-11-20T12:00:00.230Z', durationMs: 230, kvMs: 80, d1Ms: 150, keyId: 'stub' },
      { durationMs: 150, d1Ms: 150, keyId: 'stub' },
      { durationMs: 80, kvMs: 80, status: 401 },
    ]);
  },
);

test('a retry of a create waits for D1 twice', async () => {
  const logLines = stopTime(NOON);
  const bindings = bindingsOf(true);
  vi.spyOn(bindings.DB, 'batch').mockImplementationOnce(async () => {
    await takeTime('D1');
    throw new Error('D1_ERROR: UNIQUE constraint failed: idempotency_keys.key_hash');
  });
  const create = CALLS.find(({ operationId }) => operationId === 'createPet');
  const retry = { path: '', ...create, headers: { 'idempotency-key': 'k' } };
  const { headers } = await sendInProcess(retry, bindings, generateKey('production'));
  expect(headers.get('idempotency-replayed')).toBe('true');
  expect(logLines()).toMatchObject([{ d1Ms: 2 * LATENCY_MS.D1 }]);
});

// D1 repeats a read that fails, unless it is in a batch.
test.each(CALLS.filter(({ method }) => method === 'GET'))(
  '$operationId is one statement outside a batch',
  async (call) => {
    stopTime();
    const bindings = stubBindings();
    const batch = vi.spyOn(bindings.DB, 'batch');
    const { status } = await sendInProcess(call, bindings, generateKey('production'));
    expect(status).toBe(200);
    expect(batch).not.toHaveBeenCalled();
  },
);
