/** The errors of D1, and the deadlines. */
import { expect, test } from 'vitest';
import { KV_DEADLINE_MS } from '../../src/auth/key-lookup.ts';
import { DEADLINE_MS } from '../../src/d1/execute.ts';
import { failureKind } from '../../src/d1/failure.ts';
import { expectError, startFaultyStore } from '../support/store.ts';
import type { Faults } from './worker.ts';

const store = startFaultyStore('staging');
const HIDDEN = 'Internal server error. Quote the X-Request-Id header when you report it.';
const create = () => store.createPet({ name: 'Rex', categoryId: 1 });

test.each([
  [
    'no such table: pets: SQLITE_ERROR',
    '. To apply the migrations: npx wrangler d1 migrations apply DB --remote --env staging',
  ],
  ['UNIQUE constraint failed: pets.id: SQLITE_CONSTRAINT', ''],
  ['too many SQL variables at offset 1', ''],
])('a failure that operators must fix is a 500: %s', async (text, fix) => {
  await store.fault({ d1: [{ text: `D1_ERROR: ${text}` }] });
  expectError(await create(), 500, 'internal_error');
  expect(await store.logLines()).toMatchObject([{ cause: `D1_ERROR: ${text}${fix}` }]);
});

// The constraint of the animal's id is the only one that a request can violate.
test.each([
  ['orders.status', null, 500],
  ['pets.pet_id', null, 500],
  ['orders.pet_id_of_owner', null, 500],
  ['orders.status', 'k', 500],
  ['orders.pet_id, orders.status', null, 404],
  // The record has been removed since.
  ['idempotency_keys.key_hash', 'k', 503],
])('a violated constraint of %s, with the key %s, is a %i', async (columns, key, status) => {
  await store.fault({ d1: [{ text: `NOT NULL constraint failed: ${columns}` }] });
  const headers = { 'idempotency-key': key };
  expect((await store.placeOrder({ petId: 7 }, { headers })).status).toBe(status);
});

// The texts of D1: https://developers.cloudflare.com/d1/observability/debug-d1/#error-list
test.each([
  ['D1 DB storage operation exceeded timeout which caused object to be reset.', 'unknown outcome'],
  // https://developers.cloudflare.com/changelog/post/2026-09-01-d1-free-tier-limit-enforcement/
  ["Your account has exceeded D1's free tier daily row write limit.", 'unknown outcome'],
  ['no such column: breed: SQLITE_ERROR', 'not migrated'],
  ['table pets has no column named breed: SQLITE_ERROR', 'not migrated'],
  ['Exceeded maximum DB size.', 'mistake'],
  ["Your account has exceeded D1's maximum account storage limit", 'mistake'],
  ['cannot store REAL value in INTEGER column pets.category_id: SQLITE_CONSTRAINT', 'mistake'],
  ["D1_TYPE_ERROR: Type 'bigint' not supported for value '1'", 'mistake'],
  ['D1_COLUMN_NOTFOUND: Column not found (breed)', 'mistake'],
  ['Wrong number of parameter bindings for SQL query.', 'mistake'],
  ['FOREIGN KEY constraint failed', 'constraint'],
  ['SQLITE_CONSTRAINT_UNIQUE', 'constraint'],
  // The codes of SQLite for a statement that is wrong, and some others:
  // https://sqlite.org/rescode.html
  ...['ERROR', 'MISMATCH', 'RANGE', 'TOOBIG', 'AUTH', 'MISUSE'].map((code) => [
    `SQLITE_${code}`,
    'mistake',
  ]),
  ...['INTERNAL', 'BUSY', 'LOCKED', 'NOMEM', 'READONLY', 'CORRUPT', 'CANTOPEN', 'IOERR_AUTH'].map(
    (code) => [`SQLITE_${code}`, 'unknown outcome'],
  ),
])('"%s" is the failure: %s', (text, kind) => {
  expect(failureKind(new Error(`D1_ERROR: ${text}`))).toBe(kind);
});

test('a missing table is a failure of its own, in the words of D1', async () => {
  const statement = store.bindings().DB.prepare('SELECT 1 FROM toys');
  const error = await statement.all().catch((thrown) => thrown);
  expect(failureKind(error)).toBe('not migrated');
});

test('a RangeError of our own code is a mistake', () => {
  expect(failureKind(new RangeError('a bug'))).toBe('mistake');
});

test('a create after the largest id is a 500', async () => {
  await store.insertPet({ id: 2n ** 63n - 1n, name: 'Max' });
  expectError(await create(), 500, 'internal_error');
  const cause = expect.stringContaining('SQLITE_FULL');
  expect(await store.logLines()).toMatchObject([{ cause }]);
  expect(await store.rows('pets')).toMatchObject([{ name: 'Max' }]);
});

test.each([
  [
    503,
    'D1_ERROR: Network connection lost.',
    'service_unavailable',
    'The database did not respond. This request has changed nothing: retry it.',
  ],
  [500, 'D1_ERROR: SQLITE_TOOBIG', 'internal_error', HIDDEN],
])(
  'a refused order is a %i if D1 cannot read the reason: %s',
  async (status, cause, code, message) => {
    await store.fault({ d1: ['works', { text: cause }] });
    expectError(await store.placeOrder({ petId: 7 }), status, code, message);
    expect(await store.logLines()).toMatchObject([{ cause }]);
    expect(await store.rows('orders')).toEqual([]);
  },
);

test.each<[string, string, number, Faults]>([
  ['KV', 'kvMs', KV_DEADLINE_MS, { kv: 'hangs' }],
  ['D1', 'd1Ms', DEADLINE_MS, { d1: ['hangs'] }],
])('a request is a 503 if %s takes longer than %s of %i ms', async (name, field, ms, fault) => {
  await store.fault(fault);
  // With a key that the service has not read yet.
  await store.fetch('/v1/pets', { key: await store.issueKey() });
  const cause = `${name} did not respond within ${ms} ms`;
  const line = { status: 503, cause, [field]: expect.any(Number) };
  expect(await store.logLines()).toMatchObject([line]);
});
