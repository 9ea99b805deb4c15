/** The errors of D1, the deadlines, and sessions. */
import { describe, expect, test } from 'vitest';
import { expectError } from '../orders/steps.ts';
import { startStore } from '../store.ts';
import { clientOf } from './client.ts';
import type { Fault } from './fault.ts';

const store = startStore({ faults: true, env: 'staging' });
const { contents, create } = clientOf(store);

const READ_UNAVAILABLE = 'The database is temporarily unavailable.';
const CREATE_UNAVAILABLE =
  'The database did not respond. It is unknown whether the animal was added. Check before you retry. To make retries safe, send an Idempotency-Key with the first request.';
const INTERNAL = 'Internal server error. Quote the X-Request-Id header when you report it.';

// https://developers.cloudflare.com/d1/observability/debug-d1/#error-list, and those of SQLite.
test.each([
  'D1 DB reset because its code was updated.',
  'Network connection lost.',
  'Internal error in D1 DB storage caused object to be reset.',
  'D1 DB storage operation exceeded timeout which caused object to be reset.',
  'D1 DB is overloaded. Too many requests queued.',
  'D1 DB exceeded its memory limit and was reset.',
  'database is locked: SQLITE_BUSY',
  'database table is locked: SQLITE_LOCKED',
  'interrupted: SQLITE_INTERRUPT',
  'disk I/O error: SQLITE_IOERR',
  'an unknown error',
])('an error of the platform is a 503: %s', async (text) => {
  await store.fault({ d1: [{ text: `D1_ERROR: ${text}` }] });
  expectError(await create('Rex'), 503, 'service_unavailable', CREATE_UNAVAILABLE);
  expect((await store.calls()).d1).toBe(1);
  const [line] = await store.logLines();
  expect(line).toMatchObject({ status: 503, cause: `D1_ERROR: ${text}` });
  expect(line).not.toHaveProperty('stack');
});

test.each([
  ['no such table: pets: SQLITE_ERROR', 'wrangler d1 migrations apply DB --remote --env staging'],
  ['no such column: breed: SQLITE_ERROR', 'wrangler d1 migrations apply DB --remote --env staging'],
  ['database or disk is full: SQLITE_FULL', 'The database or the account is full'],
  ['Exceeded maximum DB size.', 'The database or the account is full'],
  ["Your account has exceeded D1's maximum account storage limit", 'account is full'],
  ['UNIQUE constraint failed: pets.id: SQLITE_CONSTRAINT', 'SQLITE_CONSTRAINT'],
  ['cannot store REAL value in INTEGER column pets.category_id', 'cannot store REAL value'],
  ['too many SQL variables at offset 1', 'too many SQL variables'],
  ["D1_TYPE_ERROR: Type 'bigint' not supported for value '1'", 'D1_TYPE_ERROR'],
  ['D1_COLUMN_NOTFOUND: Column not found (breed)', 'D1_COLUMN_NOTFOUND'],
  ['Wrong number of parameter bindings for SQL query.', 'Wrong number of parameter bindings'],
])('a mistake of the service is a 500: %s', async (text, cause) => {
  await store.fault({ d1: [{ text: `D1_ERROR: ${text}` }] });
  expectError(await create('Rex'), 500, 'internal_error', INTERNAL);
  const [line] = await store.logLines();
  expect(line).toMatchObject({ cause: expect.stringContaining(cause), stack: expect.any(String) });
  expect(await contents()).toEqual([]);
});

test.each(['TypeError', 'RangeError'] as const)('a %s of D1 is a 500', async (thrown) => {
  await store.fault({ d1: [{ text: 'a bug', thrown }] });
  expectError(await create('Rex'), 500, 'internal_error', INTERNAL);
});

test.each([undefined, 'k'])('a create after the largest id is a 500 (key: %s)', async (key) => {
  await store.exec(
    "INSERT INTO pets (id, name, category_id) VALUES (9223372036854775807, 'last', 1)",
  );
  expectError(await create('Rex', key), 500, 'internal_error', INTERNAL);
  const cause = expect.stringContaining('the largest id is in use');
  expect(await store.logLines()).toMatchObject([{ cause }]);
  expect(await contents()).toEqual(['animal last is without status']);
});

test('the log has the region of D1, and the number of its attempts', async () => {
  const fault = { meta: { total_attempts: 3, served_by_region: 'WEUR' } };
  await store.fault({ d1: [fault, fault] });
  await store.fetch('/v1/pets');
  await create('Rex', 'k');
  const logged = { d1Attempts: 3, d1Region: 'WEUR' };
  expect(await store.logLines()).toMatchObject([logged, logged]);
});

describe('KV and D1 have deadlines of their own', () => {
  /** Lists the animals with a key that the service has not read yet. */
  async function listWithNewKey() {
    const authorization = `Bearer ${await store.issueKey()}`;
    return store.fetch('/v1/pets', { headers: { authorization } });
  }

  test('a request succeeds if KV and D1 respond just in time', async () => {
    await store.fault({ clockRuns: true, kv: { takes: 1_900 }, d1: [{ takes: 4_900 }] });
    expect((await listWithNewKey()).status).toBe(200);
  });

  test('a request is a 503 if KV takes longer than two seconds', async () => {
    await store.fault({ clockRuns: true, kv: { takes: 2_100 } });
    const message = 'API keys cannot be verified right now.';
    expectError(await listWithNewKey(), 503, 'service_unavailable', message);
    expect((await store.calls()).d1).toBe(0);
  });

  test.each<Fault>([{ takes: 5_100 }, 'hangs'])(
    'a request is a 503 if D1 takes longer than five seconds: %j',
    async (fault) => {
      await store.fault({ clockRuns: true, d1: [fault] });
      expectError(await listWithNewKey(), 503, 'service_unavailable', READ_UNAVAILABLE);
      expect((await store.calls()).d1).toBe(1);
      const cause = 'D1 did not respond within 5000 ms';
      expect(await store.logLines()).toMatchObject([{ status: 503, cause }]);
    },
  );
});

const KNOWN = `00000001-00000002-00000003-${'f'.repeat(32)}`;

describe('in a session', () => {
  test.each([
    ['throws', 'first-primary'],
    ['throws', 'first-unconstrained'],
    ['hangs', KNOWN],
  ] as const)('a read that %s is a 503 that says to leave %s out', async (fault, bookmark) => {
    await store.fault({ d1: [fault] });
    const reply = await store.fetch('/v1/pets', { headers: { 'x-d1-bookmark': bookmark } });
    const advice =
      'To read without waiting for the state of the bookmark, leave out X-D1-Bookmark.';
    expectError(reply, 503, 'service_unavailable', `${READ_UNAVAILABLE} ${advice}`);
    expect(reply.headers.has('x-d1-bookmark')).toBe(false);
    expect(await store.calls()).toMatchObject({ d1: 1, sessions: [bookmark] });
  });

  test('in a session, a write that throws has the message of its operation', async () => {
    await store.fault({ d1: ['throws'] });
    const headers = { 'x-d1-bookmark': KNOWN };
    const reply = await store.create({ name: 'Rex', categoryId: 1 }, { headers });
    expectError(reply, 503, 'service_unavailable', CREATE_UNAVAILABLE);
    expect((await store.calls()).d1).toBe(1);
    expect(await contents()).toEqual([]);
  });

  test('a write runs on the primary, whatever state the bookmark has', async () => {
    const headers = { 'x-d1-bookmark': KNOWN };
    expect((await store.create({ name: 'Rex', categoryId: 1 }, { headers })).status).toBe(201);
    expect((await store.calls()).sessions).toEqual(['first-primary']);
  });

  test.each([
    ['first-unconstrained', 'first-unconstrained'],
    [KNOWN, KNOWN],
    [KNOWN.toUpperCase(), 'first-primary'],
    ['v2.bookmark_of-another:shape/that+may=come~', 'first-primary'],
  ])('a session with the bookmark %s begins with %s', async (bookmark, start) => {
    const headers = { 'x-d1-bookmark': bookmark };
    expect((await store.fetch('/v1/pets', { headers })).status).toBe(200);
    expect((await store.calls()).sessions).toEqual([start]);
  });
});
