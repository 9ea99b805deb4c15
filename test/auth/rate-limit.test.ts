/** The budgets of a key: one for all its requests, and a smaller one for writes. */
import { expect, test } from 'vitest';
import { stopTime } from '../support/in-process.ts';
import { expectError, startFaultyStore } from '../support/store.ts';
import { RECORD, sendInProcess, stubBindings } from '../support/stubs.ts';

const store = startFaultyStore();

/** Sends a request with a new key, and returns the response, and what each limiter has counted. */
async function send(method: string, { exhausted = '', record = {} } = {}) {
  const counted: string[] = [];
  // A write asks both limiters at once: the first does not answer before the second is asked.
  const asked = Promise.withResolvers<void>();
  const limiter = (name: string) => ({
    async limit({ key }: { key: string }) {
      counted.push(`${name} ${key}`);
      if (name === 'writes' || method === 'GET') asked.resolve();
      await asked.promise;
      return { success: name !== exhausted };
    },
  });
  const bindings = {
    ...stubBindings(),
    RATE_LIMITER: limiter('all'),
    WRITE_RATE_LIMITER: limiter('writes'),
    API_KEYS: { get: async () => JSON.stringify({ ...RECORD, ...record }) },
  };
  const response = await sendInProcess({ path: '/v1/pets/7', method }, bindings);
  return { response, status: response.status, counted };
}

test.each([
  // A rotated key has a budget of its own.
  { method: 'GET', record: { id: 'two', family: 'stub' }, status: 200, counted: ['all two'] },
  { method: 'DELETE', status: 204, counted: ['all stub', 'writes stub'] },
  {
    method: 'DELETE',
    record: { scopes: ['read'] },
    status: 403,
    counted: ['all stub', 'writes stub'],
  },
])('a $method with the record $record is a $status, and counts: $counted', async (each) => {
  const { method, record, ...counted } = each;
  stopTime();
  expect(await send(method, { record })).toMatchObject(counted);
});

test.each([
  ['all', 'GET'],
  ['all', 'DELETE'],
  ['writes', 'DELETE'],
])('while the budget for %s is exhausted, a %s is a 429', async (exhausted, method) => {
  const logLines = stopTime();
  const { response, status } = await send(method, { exhausted });
  const message = 'Too many requests. Retry after the delay in Retry-After.';
  expectError({ status, body: await response.json() }, 429, 'rate_limited', message);
  expect(response.headers.get('retry-after')).toBe('10');
  expect(logLines()).toMatchObject([{ keyId: 'stub' }]);
});

test.each([
  ['throws', 'Error: limiter unavailable'],
  ['hangs', 'Error: The rate limiter did not respond within 500 ms'],
] as const)(
  'no limit applies while a limiter %s, and the line says why',
  async (limiters, cause) => {
    await store.fault({ limiters });
    expect((await store.createPet({ name: 'Rex', categoryId: 1 })).status).toBe(201);
    const [line] = await store.logLines();
    expect(Object(line?.limiterFailures).toSorted()).toEqual([
      `RATE_LIMITER: ${cause}`,
      `WRITE_RATE_LIMITER: ${cause}`,
    ]);
  },
);
