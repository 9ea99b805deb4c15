/** The deadline of a request, sessions, and the errors of D1. */
import { describe, expect, test } from 'vitest';
import { startStore } from '../store.ts';
import { clientOf } from './client.ts';
import type { Fault } from './fault.ts';

const store = startStore({ faults: true, env: 'staging' });
const { addAnimal, contents, create, update } = clientOf(store);

describe('one budget of five seconds covers', () => {
  test('all attempts of a request', async () => {
    // Three seconds, then four more: each attempt alone would be in time.
    await store.fault({ d1: ['throws late', 'is slower'] });
    expect((await store.fetch('/v1/pets')).status).toBe(503);
    const cause = expect.stringMatching(/^D1 did not .* ms; before that: .* connection lost\.$/);
    expect(await store.logLines()).toMatchObject([{ cause }]);
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

test.each(['first-unconstrained', 'first-primary'])(
  'a request in a session (%s) is retried as well, and its response has a bookmark',
  async (bookmark) => {
    await store.fault({ d1: ['throws', 'throws'] });
    const reply = await store.fetch('/v1/pets', { headers: { 'x-d1-bookmark': bookmark } });
    expect([reply.status, (await store.calls()).d1]).toEqual([200, 3]);
    expect(reply.headers.get('x-d1-bookmark')).toMatch(/^[0-9a-f-]{59}$/);
  },
);

describe('a session that begins at a bookmark', () => {
  const headers = { 'x-d1-bookmark': `7fffffff-ffffffff-ffffffff-${'f'.repeat(32)}` };

  const OLD_SCHEMA = { text: 'D1_ERROR: no such column: breed: SQLITE_ERROR' };

  test.each<Fault>([
    'hangs',
    'throws',
    { text: 'D1_ERROR: the bookmark is not valid' },
    OLD_SCHEMA,
  ])('that %s is served from the primary', async (fault) => {
    await store.fault({ d1: [fault] });
    for (const path of ['/v1/pets', '/v1/pets?limit=1']) {
      const reply = await store.fetch(path, { headers });
      expect([reply.status, reply.headers.has('x-d1-bookmark')]).toEqual([200, true]);
    }
    expect((await store.calls()).d1).toBe(3);
  });

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

/** https://developers.cloudflare.com/d1/observability/debug-d1/#error-list, and those of SQLite. */
const RETRIED = { status: 200, d1Attempts: 2 };
const UNAVAILABLE = { status: 503, d1Attempts: 1 };
const OUR_FAULT = { status: 500, d1Attempts: 1 };

test.each([
  ['D1 DB reset because its code was updated.', RETRIED],
  ['Internal error while starting up D1 DB storage caused object to be reset.', RETRIED],
  ['Network connection lost.', RETRIED],
  ['Internal error in D1 DB storage caused object to be reset.', RETRIED],
  ['Cannot resolve D1 DB due to transient issue on remote node.', RETRIED],
  ["Can't read from request stream because client disconnected.", RETRIED],
  ['database is locked: SQLITE_BUSY', RETRIED],
  ['interrupted: SQLITE_INTERRUPT', RETRIED],
  ['disk I/O error: SQLITE_IOERR', RETRIED],
  ['D1 DB storage operation exceeded timeout which caused object to be reset.', UNAVAILABLE],
  ['D1 DB is overloaded. Too many requests queued.', UNAVAILABLE],
  ['D1 DB is overloaded. Requests queued for too long.', UNAVAILABLE],
  ['D1 DB exceeded its memory limit and was reset.', UNAVAILABLE],
  ['D1 DB exceeded its CPU time limit and was reset.', UNAVAILABLE],
  ['something new', UNAVAILABLE],
  ['Exceeded maximum DB size.', OUR_FAULT],
  ["Your account has exceeded D1's maximum account storage limit", OUR_FAULT],
  ['cannot store REAL value in INTEGER column pets.category_id: SQLITE_CONSTRAINT', OUR_FAULT],
  ['too many SQL variables at offset 1: SQLITE_ERROR', OUR_FAULT],
  ["D1_TYPE_ERROR: Type 'bigint' not supported for value '1'", OUR_FAULT],
  ['Wrong number of parameter bindings for SQL query.', OUR_FAULT],
])('D1 error "%s": the log has %j', async (text, logged) => {
  await store.fault({ d1: [{ text: `D1_ERROR: ${text}` }] });
  expect((await store.fetch('/v1/pets')).status).toBe(logged.status);
  expect(await store.logLines()).toMatchObject([logged]);
});

describe('"Nothing was written"', () => {
  test('is in the message when the database stays busy', async () => {
    await store.fault({ d1: Array(3).fill('is busy') });
    expect((await create('Rex')).text).toContain('Nothing was written');
    expect(await contents()).toEqual([]);
  });

  test('is not in the message when a response was lost before', async () => {
    await store.fault({ d1: ['loses the response', 'is busy', 'is busy'] });
    const { status, text } = await create('Rex', 'k');
    expect(status).toBe(503);
    expect(text).not.toContain('Nothing was written');
    expect(await contents()).toEqual(['animal Rex is without status']);
  });
});

test('a create after the last id is a 500 that logs this cause, and writes nothing', async () => {
  await store.exec(
    "INSERT INTO pets (id, name, category_id) VALUES (9223372036854775807, 'last', 1)",
  );
  for (const key of [undefined, 'k'])
    expect((await create('Rex', key)).body).toMatchObject({ code: 'internal_error' });
  for (const line of await store.logLines())
    expect(line).toMatchObject({ cause: expect.stringContaining('the largest id is in use') });
  expect(await contents()).toEqual(['animal last is without status']);
});

test.each([
  ['database or disk is full: SQLITE_FULL', 'The database or the account is full'],
  ['no such table: pets: SQLITE_ERROR', 'wrangler d1 migrations apply DB --remote --env staging'],
])('when D1 throws "%s", only the log has the fix and a stack', async (text, fix) => {
  await store.fault({ d1: [{ text: `D1_ERROR: ${text}` }] });
  const reply = await create('Rex');
  expect(reply.status).toBe(500);
  expect(reply.text).not.toMatch(/D1|SQLITE|wrangler/);
  const cause = expect.stringContaining(fix);
  const stack = expect.any(String);
  expect(await store.logLines()).toMatchObject([{ cause, stack, d1Attempts: 1 }]);
});

test('when D1 hangs, only the log has the cause', async () => {
  await store.fault({ d1: ['hangs'] });
  expect((await create('Rex')).text).not.toMatch(/D1|ms\b/);
  const cause = 'D1 did not respond within 5000 ms';
  expect(await store.logLines()).toMatchObject([{ cause, d1Attempts: 1 }]);
});

test('an error of the service does not hide that an earlier attempt may have written', async () => {
  await addAnimal('sold');
  const stopped = { text: 'D1_ERROR: writes are stopped: SQLITE_ERROR' };
  await store.fault({ d1: ['loses the response', stopped] });
  const { status, text } = await update(1, { name: 'Max' });
  expect(status).toBe(503);
  expect(text).toContain('It is unknown whether the animal was changed.');
});
