/** The deadline of a request, sessions, and the errors of D1. */
import { describe, expect, test } from 'vitest';
import { startStore } from '../store.ts';
import { clientOf } from './client.ts';
import type { D1Fault } from './d1.ts';

const store = startStore({ faults: true, env: 'staging' });
const { contents, create } = clientOf(store);

const REX = ['animal Rex is without status'];

describe('one budget of five seconds covers', () => {
  test('all attempts of a request', async () => {
    // Three seconds, then three more: each attempt alone would be in time.
    await store.fault({ clockRuns: true, d1: ['throws late', 'is slow'] });
    const reply = await store.fetch('/v1/pets');
    expect(reply.status).toBe(503);
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
});

const BUSY: D1Fault = { text: 'D1_ERROR: database is locked: SQLITE_BUSY' };
const NOTHING_WRITTEN = /Nothing was written/;

test('the message says that nothing was written when the database stays busy', async () => {
  await store.fault({ d1: [BUSY, BUSY, BUSY] });
  const { body } = await create('Rex');
  expect(body).toMatchObject({ message: expect.stringMatching(NOTHING_WRITTEN) });
  expect(await contents()).toEqual([]);
});

test('the message does not say that nothing was written when a response was lost before', async () => {
  await store.fault({ d1: ['loses the response', BUSY, BUSY] });
  const { body } = await create('Rex', 'k');
  expect(body).toMatchObject({ status: 503, message: expect.not.stringMatching(NOTHING_WRITTEN) });
  expect(await contents()).toEqual(REX);
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
  ['is full', 'The database or the account is full, or the largest id is in use.'],
  ['has another schema', 'npx wrangler d1 migrations apply DB --remote --env staging'],
] as const)(
  'when D1 %s, the log has the fix and a stack, and the client is told neither',
  async (fault, fix) => {
    await store.fault({ d1: [fault] });
    const { text } = await create('Rex');
    expect(text).not.toMatch(/D1|SQLITE|wrangler/);
    const cause = expect.stringContaining(fix);
    expect(await store.logLines()).toMatchObject([{ cause, stack: expect.any(String) }]);
  },
);

test('a 503 hides the cause from the client, and logs it', async () => {
  await store.fault({ d1: ['hangs'] });
  expect((await create('Rex')).text).not.toMatch(/D1|ms\b/);
  const cause = 'D1 did not respond within 5000 ms';
  expect(await store.logLines()).toMatchObject([{ cause, d1Attempts: 1 }]);
});
