/** Each operation while D1 fails: the response, the log line, and what is written. */
import { describe, expect, test } from 'vitest';
import { startStore } from '../store.ts';
import { clientOf } from './client.ts';
import type { D1Fault } from './d1.ts';

const store = startStore({ faults: true, env: 'staging' });
const { names } = clientOf(store);

const REX = { name: 'Rex', categoryId: 3 };

const RETRY_WITH_KEY = 'The database did not respond. Retry with the same Idempotency-Key.';
const OUTCOME_UNKNOWN = expect.stringContaining('It is unknown whether the animal was added');

const OPERATIONS = {
  listPets: () => store.fetch('/v1/pets'),
  getPet: () => store.fetch('/v1/pets/1'),
  createPet: () => store.create(REX),
  'createPet with an Idempotency-Key': () =>
    store.create(REX, { headers: { 'idempotency-key': 'k' } }),
};
type Name = keyof typeof OPERATIONS;

const LOST = 'D1_ERROR: Network connection lost.';
const LATE = 'D1 did not respond within 5000 ms';
const LATE_AFTER_LOST = expect.stringMatching(
  /^D1 did not respond within \d+ ms; before that: D1_ERROR: Network connection lost\.$/,
);
const OVERLOADED = 'D1_ERROR: D1 DB is overloaded. Requests queued for too long.';

/** Sends a request to a store with one animal, `old`, while D1 has these faults. */
async function sendWithFaults(name: Name, faults: D1Fault[]) {
  const { DB } = await store.bindings();
  await DB.exec("INSERT INTO pets (name, category_id) VALUES ('old', 1)");
  await store.fault({ d1: [...faults] });
  const reply = await OPERATIONS[name]();
  await store.fault({});
  const [line] = await store.logLines();
  expect(line?.requestId).toBe(reply.headers.get('x-request-id'));
  expect(reply.text).not.toMatch(/D1|SQLITE|sqlite|wrangler|ms\b/);
  return { ...reply, line };
}

type Survived = [attempts: number, faults: D1Fault[]];
const SURVIVED: Survived[] = [
  [1, ['is slow']],
  [2, ['throws']],
  [2, ['loses the response']],
  [3, ['throws', 'throws']],
];

type Failed = [attempts: number, faults: D1Fault[], cause: unknown];
const FAILED: Failed[] = [
  [3, ['throws', 'throws', 'throws'], LOST],
  [1, ['hangs'], LATE],
  [2, ['throws', 'hangs'], LATE_AFTER_LOST],
  [1, ['is overloaded'], OVERLOADED],
];

describe.each<Name>(['listPets', 'getPet'])('%s', (name) => {
  test.each(SURVIVED)('succeeds at attempt %i when D1 %j', async (d1Attempts, faults) => {
    const reply = await sendWithFaults(name, faults);
    expect(reply).toMatchObject({ status: 200, line: { d1Attempts } });
  });

  test.each([...FAILED, [1, ['runs, then hangs'], LATE] satisfies Failed])(
    'is a 503 at attempt %i when D1 %j, and logs the cause',
    async (d1Attempts, faults, cause) => {
      const reply = await sendWithFaults(name, faults);
      expect(reply).toMatchObject({ status: 503, line: { d1Attempts, cause } });
      expect(reply.headers.get('retry-after')).toBe('5');
      expect(reply.body).toMatchObject({ message: 'The database is temporarily unavailable.' });
      expect((await OPERATIONS[name]()).status).toBe(200);
    },
  );
});

describe('createPet with an Idempotency-Key', () => {
  const name = 'createPet with an Idempotency-Key';

  test.each(SURVIVED)('succeeds once at attempt %i when D1 %j', async (d1Attempts, faults) => {
    const reply = await sendWithFaults(name, faults);
    expect(reply).toMatchObject({ status: 201, line: { d1Attempts } });
    const again = await OPERATIONS[name]();
    expect(again.text).toBe(reply.text);
    expect(again.headers.get('idempotency-replayed')).toBe('true');
    expect(await names()).toEqual(['old', 'Rex']);
  });

  async function expectUnavailable(...[d1Attempts, faults, cause]: Failed): Promise<void> {
    const reply = await sendWithFaults(name, faults);
    expect(reply).toMatchObject({ status: 503, line: { d1Attempts, cause } });
    expect(reply.headers.get('retry-after')).toBe('5');
    expect(reply.body).toMatchObject({ message: RETRY_WITH_KEY });
  }

  test.each(FAILED)('is a 503 at attempt %i when D1 %j, and writes nothing', async (...failed) => {
    await expectUnavailable(...failed);
    expect(await names()).toEqual(['old']);
    const again = await OPERATIONS[name]();
    expect([again.status, again.headers.has('idempotency-replayed')]).toEqual([201, false]);
    expect(await names()).toEqual(['old', 'Rex']);
  });

  test('is a 503 when D1 writes and never returns, and its retry returns the animal', async () => {
    await expectUnavailable(1, ['runs, then hangs'], LATE);
    expect(await names()).toEqual(['old', 'Rex']);
    const again = await OPERATIONS[name]();
    expect([again.status, again.headers.get('idempotency-replayed')]).toEqual([201, 'true']);
    expect(await names()).toEqual(['old', 'Rex']);
  });
});

describe('createPet without an Idempotency-Key', () => {
  test('succeeds when D1 is slow', async () => {
    expect(await sendWithFaults('createPet', ['is slow'])).toMatchObject({ status: 201 });
    expect(await names()).toEqual(['old', 'Rex']);
  });

  test.each<[fault: D1Fault, cause: string, names: string[]]>([
    ['throws', LOST, ['old']],
    ['loses the response', LOST, ['old', 'Rex']],
    ['hangs', LATE, ['old']],
    ['runs, then hangs', LATE, ['old', 'Rex']],
    ['is overloaded', OVERLOADED, ['old']],
  ])('is a 503 at the first attempt when D1 %s', async (fault, cause, written) => {
    const reply = await sendWithFaults('createPet', [fault]);
    expect(reply).toMatchObject({ status: 503, line: { d1Attempts: 1, cause } });
    expect(reply.headers.get('retry-after')).toBe('5');
    expect(reply.body).toMatchObject({ message: OUTCOME_UNKNOWN });
    expect(await names()).toEqual(written);
  });
});

const FULL =
  'D1_ERROR: database or disk is full: SQLITE_FULL. The database or the account is full, or the largest id is in use. Nothing was written.';
const OTHER_SCHEMA =
  'D1_ERROR: no such table: pets: SQLITE_ERROR. To apply the migrations: npx wrangler d1 migrations apply DB --remote --env staging';

describe.each<[fault: D1Fault, cause: string]>([
  ['is full', FULL],
  ['has another schema', OTHER_SCHEMA],
])('when D1 %s', (fault, cause) => {
  test.each(Object.keys(OPERATIONS) as Name[])('%s is a 500 at the first attempt', async (name) => {
    const reply = await sendWithFaults(name, [fault]);
    const stack = expect.any(String);
    expect(reply).toMatchObject({ status: 500, line: { d1Attempts: 1, cause, stack } });
    expect(await names()).toEqual(['old']);
  });
});
