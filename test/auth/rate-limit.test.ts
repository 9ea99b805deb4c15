/** The budgets of a key: one for all its requests, and a smaller one for writes. */
import { expect, test } from 'vitest';
import { stopTime } from '../support/in-process.ts';
import { expectError, startStore } from '../support/store.ts';
import { sendInProcess, stubBindings } from '../support/stubs.ts';

const store = startStore({ faults: true });

/** Sends a request with a new key, and returns the response, and what each limiter has counted. */
async function send(method: string, { exhausted = '', record = {} } = {}) {
  const counted: string[] = [];
  const limiter = (name: string) => ({
    async limit({ key }: { key: string }) {
      counted.push(`${name} ${key}`);
      return { success: name !== exhausted };
    },
  });
  const bindings = {
    ...stubBindings(),
    RATE_LIMITER: limiter('all'),
    WRITE_RATE_LIMITER: limiter('writes'),
    API_KEYS: {
      get: async () =>
        JSON.stringify({ id: 'one', label: '', createdAt: '2026-11-20T00:00:00Z', ...record }),
    },
  };
  const call = { path: '/v1/pets/7', method };
  const response = await sendInProcess(call, bindings);
  return { response, status: response.status, counted };
}

test('a read counts in the budget of its key, and a write in both', async () => {
  stopTime();
  expect(await send('GET')).toMatchObject({ status: 200, counted: ['all one'] });
  expect(await send('DELETE')).toMatchObject({ status: 204, counted: ['all one', 'writes one'] });
});

test('a write asks both limiters at once', async () => {
  const logLines = stopTime();
  // The first limiter does not answer before the second one is asked.
  const { promise, resolve } = Promise.withResolvers<object>();
  const bindings = {
    ...stubBindings(),
    RATE_LIMITER: { limit: () => promise },
    WRITE_RATE_LIMITER: {
      async limit() {
        resolve({ success: true });
        return { success: true };
      },
    },
  };
  const call = { path: '/v1/pets/7', method: 'DELETE' };
  await sendInProcess(call, bindings);
  expect(logLines()).toHaveLength(1);
  expect(logLines()[0]).not.toHaveProperty('limiterFailures');
});

test('a request without the scope counts, too', async () => {
  stopTime();
  const rejected = await send('DELETE', { record: { scopes: ['read'] } });
  expect(rejected).toMatchObject({ status: 403, counted: ['all one', 'writes one'] });
});

test('a rotated key has a budget of its own', async () => {
  stopTime();
  const { counted } = await send('GET', { record: { id: 'second', family: 'one' } });
  expect(counted).toEqual(['all second']);
});

test.each(['all', 'writes'])(
  'while the budget for %s is exhausted, a write is a 429',
  async (exhausted) => {
    const logLines = stopTime();
    const { response, status } = await send('DELETE', { exhausted });
    expectError({ status, body: await response.json() }, 429, 'rate_limited');
    expect(response.headers.get('retry-after')).toBe('10');
    expect(logLines()).toMatchObject([{ code: 'rate_limited', keyId: 'one' }]);
    expect(logLines()[0]).not.toHaveProperty('d1Ms');
  },
);

test.each([
  ['throws', 'limiter unavailable'],
  ['hangs', '500 ms'],
] as const)(
  'no limit applies while a limiter %s, and the line says why',
  async (limiters, cause) => {
    await store.fault({ limiters });
    expect((await store.createPet({ name: 'Rex', categoryId: 1 })).status).toBe(201);
    const [line] = await store.logLines();
    expect(Object(line?.limiterFailures).toSorted()).toEqual([
      expect.stringMatching(`^RATE_LIMITER: .*${cause}$`),
      expect.stringMatching(`^WRITE_RATE_LIMITER: .*${cause}$`),
    ]);
  },
);
