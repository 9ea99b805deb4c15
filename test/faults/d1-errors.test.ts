/** The deadline of a request, sessions, and the errors of D1. */
import { describe, expect, test } from 'vitest';
import { startStore } from '../store.ts';
import { clientOf } from './client.ts';
import type { D1Fault } from './d1.ts';

const store = startStore({ faults: true, env: 'staging' });
const { names } = clientOf(store);

const REX = { name: 'Rex', categoryId: 3 };
const RETRY_WITH_KEY = 'The database did not respond. Retry with the same Idempotency-Key.';

const LATE_AFTER_LOST = expect.stringMatching(
  /^D1 did not respond within \d+ ms; before that: D1_ERROR: Network connection lost\.$/,
);

describe('one budget of five seconds covers', () => {
  test('all attempts of a request', async () => {
    // Three seconds, then three more: each attempt alone would be in time.
    await store.fault({ clockRuns: true, d1: ['throws late', 'is slow'] });
    const reply = await store.fetch('/v1/pets');
    expect(reply.status).toBe(503);
    expect(await store.logLines()).toEqual([expect.objectContaining({ cause: LATE_AFTER_LOST })]);
  });

  test('KV and D1', async () => {
    const list = async () => {
      const authorization = `Bearer ${await store.issueKey()}`;
      return (await store.fetch('/v1/pets', { headers: { authorization } })).status;
    };
    await store.fault({ clockRuns: true, d1: ['is slower'] });
    expect(await list()).toBe(200);
    await store.fault({ clockRuns: true, kv: 'is slow', d1: ['is slower'] });
    expect(await list()).toBe(503);
    await store.fault({ clockRuns: true, kv: 'is slow' });
    expect(await list()).toBe(200);
  });
});

test('a request in a session is retried as well, and its response has a bookmark', async () => {
  for (const path of ['/v1/pets', '/v1/pets/1']) {
    await store.create(REX);
    await store.fault({ d1: ['throws', 'throws'] });
    const headers = { 'x-d1-bookmark': 'first-unconstrained' };
    const reply = await store.fetch(path, { headers });
    expect([reply.status, (await store.calls()).d1]).toEqual([200, 3]);
    expect(reply.headers.get('x-d1-bookmark')).toMatch(/^[0-9a-f-]{59}$/);
    await store.fault({});
  }
});

describe('a session that begins at a bookmark', () => {
  const headers = { 'x-d1-bookmark': `7fffffff-ffffffff-ffffffff-${'f'.repeat(32)}` };

  test.each<D1Fault>(['hangs', 'throws', { text: 'D1_ERROR: the bookmark is not valid' }])(
    'that %s is served from the primary',
    async (fault) => {
      await store.fault({ d1: [fault] });
      for (const path of ['/v1/pets', '/v1/pets?limit=1']) {
        const reply = await store.fetch(path, { headers });
        expect([reply.status, reply.headers.has('x-d1-bookmark')]).toEqual([200, true]);
      }
      expect((await store.calls()).d1).toBe(3);
    },
  );

  test('gets a response within five seconds, the time of the primary included', async () => {
    await store.fault({ clockRuns: true, d1: ['hangs', 'hangs'] });
    const reply = await store.fetch('/v1/pets', { headers });
    expect([reply.status, (await store.calls()).d1]).toEqual([503, 2]);
    const [line] = await store.logLines();
    const within = Number(/^D1 did not respond within (\d+) ms/.exec(String(line?.cause))?.[1]);
    expect(within).toBeLessThanOrEqual(5_000);
    expect(within).toBeGreaterThan(2_000);
  });
});

/** The errors of D1: https://developers.cloudflare.com/d1/observability/debug-d1/#error-list */
describe('after the D1 error', () => {
  test.each([
    'D1 DB reset because its code was updated.',
    'Internal error while starting up D1 DB storage caused object to be reset.',
    'Network connection lost.',
    'Internal error in D1 DB storage caused object to be reset.',
    'Cannot resolve D1 DB due to transient issue on remote node.',
    "Can't read from request stream because client disconnected.",
    'database is locked: SQLITE_BUSY',
    'interrupted: SQLITE_INTERRUPT',
    'disk I/O error: SQLITE_IOERR',
  ])('"%s" a read is repeated', async (text) => {
    await store.fault({ d1: [{ text: `D1_ERROR: ${text}` }] });
    expect((await store.fetch('/v1/pets')).status).toBe(200);
    expect(await store.logLines()).toMatchObject([{ d1Attempts: 2 }]);
  });

  test.each([
    [503, 'D1 DB storage operation exceeded timeout which caused object to be reset.'],
    [503, 'D1 DB is overloaded. Too many requests queued.'],
    [503, 'D1 DB is overloaded. Requests queued for too long.'],
    [503, 'D1 DB exceeded its memory limit and was reset.'],
    [503, 'D1 DB exceeded its CPU time limit and was reset.'],
    [503, 'something new'],
    [500, 'Exceeded maximum DB size.'],
    [500, "Your account has exceeded D1's maximum account storage limit"],
    [500, 'cannot store REAL value in INTEGER column pets.category_id: SQLITE_CONSTRAINT'],
    [500, 'too many SQL variables at offset 1: SQLITE_ERROR'],
    [500, "D1_TYPE_ERROR: Type 'bigint' not supported for value '1'"],
    [500, 'Wrong number of parameter bindings for SQL query.'],
  ])('a read is a %i at the first attempt: "%s"', async (status, text) => {
    await store.fault({ d1: [{ text: `D1_ERROR: ${text}` }] });
    expect((await store.fetch('/v1/pets')).status).toBe(status);
    const cause = expect.stringContaining(text);
    expect(await store.logLines()).toMatchObject([{ d1Attempts: 1, cause }]);
  });

  test.each<[string, number, string[]]>([
    ['database is locked: SQLITE_BUSY', 201, ['Rex']],
    ['disk I/O error: SQLITE_IOERR', 503, []],
  ])(
    '"%s" a create without a key is repeated only if nothing was written: it is a %i',
    async (text, status, written) => {
      await store.fault({ d1: [{ text: `D1_ERROR: ${text}` }] });
      expect((await store.create(REX)).status).toBe(status);
      expect(await names()).toEqual(written);
    },
  );
});

const BUSY: D1Fault = { text: 'D1_ERROR: database is locked: SQLITE_BUSY' };

test('the message says that nothing was written when the database stays busy', async () => {
  await store.fault({ d1: [BUSY, BUSY, BUSY] });
  const { body } = await store.create(REX);
  expect(body).toMatchObject({ message: 'The database is busy. Nothing was written.' });
  expect(await names()).toEqual([]);
});

test('the message does not say that nothing was written when a response was lost before', async () => {
  await store.fault({ d1: ['loses the response', BUSY, BUSY] });
  const { body } = await store.create(REX, { headers: { 'idempotency-key': 'k' } });
  expect(body).toMatchObject({ message: RETRY_WITH_KEY });
  expect(await names()).toEqual(['Rex']);
});

test('a create after the last id is a 500 that logs this cause, and writes nothing', async () => {
  const { DB } = await store.bindings();
  await DB.prepare('INSERT INTO pets (id, name, category_id) VALUES (?1, ?2, 1)')
    .bind('9223372036854775807', 'last')
    .run();
  for (const headers of [{}, { 'idempotency-key': 'k' }]) {
    const reply = await store.create(REX, { headers });
    expect(reply.body).toMatchObject({ code: 'internal_error' });
  }
  for (const line of await store.logLines()) {
    expect(line).toMatchObject({ cause: expect.stringContaining('the largest id is in use') });
  }
  expect(await names()).toEqual(['last']);
  const records = await DB.prepare('SELECT count(*) AS n FROM idempotency_keys').first('n');
  expect(records).toBe(0);
});
