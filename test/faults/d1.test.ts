/** The store while D1 fails: what a client is told, and that nothing is lost and nothing doubled. */
import { afterAll, describe, expect, test } from 'vitest';
import { type Reply, startStore } from '../store.ts';
import type { D1Fault } from './d1.ts';

const MANY = 1_000_000;
const unlimited = { RATE_LIMITER: MANY, WRITE_RATE_LIMITER: MANY, ADDRESS_RATE_LIMITER: MANY };
const store = startStore({ faults: true, env: 'staging', limits: unlimited });

const totals = { requests: 0, faults: 0, lost: 0, doubled: 0 };
afterAll(() => {
  const { requests, faults, lost, doubled } = totals;
  console.log(`faults: ${faults} injected, ${requests} requests, ${lost} lost, ${doubled} doubled`);
});

const REX = { name: 'Rex', categoryId: 3 };

async function names(): Promise<string[]> {
  const { DB } = await store.bindings();
  const { results } = await DB.prepare('SELECT name FROM pets').all<{ name: string }>();
  return results.map(({ name }) => name);
}

async function count<T>(request: Promise<T>): Promise<T> {
  totals.requests += 1;
  return request;
}

const OPERATIONS = {
  listPets: () => count(store.fetch('/v1/pets')),
  getPet: () => count(store.fetch('/v1/pets/1')),
  createPet: () => count(store.create(REX)),
  'createPet with an Idempotency-Key': () =>
    count(store.create(REX, { headers: { 'idempotency-key': 'k' } })),
};
type Name = keyof typeof OPERATIONS;
const READS: Name[] = ['listPets', 'getPet'];
const ONCE: Name = 'createPet with an Idempotency-Key';

type Case = {
  faults: D1Fault[];
  /** Status by operation: of reads, of a create, of one with an Idempotency-Key. */
  read: number;
  create: number;
  once: number;
  /** How often D1 was asked, where an operation may be repeated. */
  attempts: number;
  cause?: string;
};

const LOST = 'D1_ERROR: Network connection lost.';
const TIME_UP = 'D1 did not answer within 5000 ms';
const CASES: Case[] = [
  { faults: ['throws'], read: 200, create: 503, once: 201, attempts: 2, cause: LOST },
  { faults: ['throws', 'throws'], read: 200, create: 503, once: 201, attempts: 3, cause: LOST },
  {
    faults: ['throws', 'throws', 'throws'],
    read: 503,
    create: 503,
    once: 503,
    attempts: 3,
    cause: LOST,
  },
  { faults: ['loses the answer'], read: 200, create: 503, once: 201, attempts: 2, cause: LOST },
  { faults: ['hangs'], read: 503, create: 503, once: 503, attempts: 1, cause: TIME_UP },
  { faults: ['hangs after'], read: 503, create: 503, once: 503, attempts: 1, cause: TIME_UP },
  {
    faults: ['throws', 'hangs'],
    ...{ read: 503, create: 503, once: 503, attempts: 2 },
  },
  { faults: ['is slow'], read: 200, create: 201, once: 201, attempts: 1 },
  {
    faults: ['is overloaded'],
    ...{ read: 503, create: 503, once: 503, attempts: 1 },
    cause: 'D1_ERROR: D1 DB is overloaded. Requests queued for too long.',
  },
  {
    faults: ['is full'],
    ...{ read: 500, create: 500, once: 500, attempts: 1 },
    cause:
      'D1_ERROR: database or disk is full: SQLITE_FULL. The database or the account has no room left, or the last id is used. Nothing was written.',
  },
  {
    faults: ['has another schema'],
    ...{ read: 500, create: 500, once: 500, attempts: 1 },
    cause:
      'D1_ERROR: no such table: pets: SQLITE_ERROR. Migrations are not applied: npx wrangler d1 migrations apply DB --remote --env staging',
  },
];

const UNAVAILABLE = {
  read: 'The store cannot be reached right now.',
  create: /It is unknown whether the animal was added/,
  once: 'The database did not answer. Send the request again with the same Idempotency-Key.',
};

describe.each(CASES)('when D1 $faults', ({ faults, read, create, once, attempts, cause }) => {
  test.each(Object.keys(OPERATIONS) as Name[])('%s', async (name) => {
    const { DB } = await store.bindings();
    await DB.exec("INSERT INTO pets (name, category_id) VALUES ('old', 1)");
    const kind = READS.includes(name) ? 'read' : name === ONCE ? 'once' : 'create';
    const expected = { read, create, once }[kind];
    await store.fault({ d1: [...faults] });
    const reply = await OPERATIONS[name]();
    totals.faults += (await store.calls()).d1Faults;

    expect(reply.status).toBe(expected);
    expect(reply.text).not.toMatch(/D1|SQLITE|sqlite|wrangler|ms\b/);
    if (expected === 503) {
      expect(reply.headers.get('retry-after')).toBe('5');
      const { message } = reply.body as { message: string };
      expect(message).toMatch(UNAVAILABLE[kind]);
    }
    const [line] = await store.logLines();
    const requestId = reply.headers.get('x-request-id');
    const asked = kind === 'create' ? 1 : attempts;
    expect(line).toMatchObject({ status: expected, requestId, d1Attempts: asked });
    // A plain create is not tried again: the first fault is its cause.
    if (expected >= 500 && cause) expect(line?.cause).toBe(cause);
    if (expected === 500) expect(line).toHaveProperty('stack');

    // The request after it succeeds, and what was written was written once and whole.
    await store.fault({});
    const tookEffect = faults.some(
      (fault) => fault === 'loses the answer' || fault === 'hangs after',
    );
    const before = (await names()).filter((written) => written === 'Rex').length;
    expect(before).toBe(kind !== 'read' && (tookEffect || expected === 201) ? 1 : 0);
    const after = await OPERATIONS[name]();
    expect(after.status).toBe(kind === 'read' ? 200 : 201);
    if (kind !== 'once') return;
    expect((await names()).filter((written) => written === 'Rex')).toHaveLength(1);
    expect(after.headers.has('idempotency-replayed')).toBe(before === 1);
  });
});

describe('five seconds are for all of a request', () => {
  const late = expect.stringMatching(
    /^D1 did not answer within \d+ ms; before that: D1_ERROR: Network connection lost\.$/,
  );

  test('not for each attempt', async () => {
    // Three seconds, then three more: either attempt by itself would be in time.
    await store.fault({ clockRuns: true, d1: ['throws late', 'is slow'] });
    const reply = await OPERATIONS.listPets();
    expect(reply.status).toBe(503);
    expect(await store.logLines()).toEqual([expect.objectContaining({ cause: late })]);
  });

  test('KV included', async () => {
    const list = async () => {
      const authorization = `Bearer ${await store.issueKey()}`;
      return (await count(store.fetch('/v1/pets', { headers: { authorization } }))).status;
    };
    await store.fault({ clockRuns: true, d1: ['is slower'] });
    expect(await list()).toBe(200);
    await store.fault({ clockRuns: true, kv: 'is slow', d1: ['is slower'] });
    expect(await list()).toBe(503);
    await store.fault({ clockRuns: true, kv: 'is slow' });
    expect(await list()).toBe(200);
  });
});

test('a request in a session is tried again, too, and answered with a bookmark', async () => {
  for (const path of ['/v1/pets', '/v1/pets/1']) {
    await store.create(REX);
    await store.fault({ d1: ['throws', 'throws'] });
    const headers = { 'x-d1-bookmark': 'first-unconstrained' };
    const reply = await count(store.fetch(path, { headers }));
    expect([reply.status, (await store.calls()).d1]).toEqual([200, 3]);
    expect(reply.headers.get('x-d1-bookmark')).toMatch(/^[0-9a-f-]{59}$/);
    await store.fault({});
  }
});

describe('a session that begins at a bookmark', () => {
  const headers = { 'x-d1-bookmark': `7fffffff-ffffffff-ffffffff-${'f'.repeat(32)}` };

  test.each<D1Fault>(['hangs', 'throws', { text: 'D1_ERROR: the bookmark is not valid' }])(
    'is answered from the primary when it %s',
    async (fault) => {
      await store.fault({ d1: [fault] });
      for (const path of ['/v1/pets', '/v1/pets?limit=1']) {
        const reply = await count(store.fetch(path, { headers }));
        expect([reply.status, reply.headers.has('x-d1-bookmark')]).toEqual([200, true]);
      }
      expect((await store.calls()).d1).toBe(3);
    },
  );

  test('is answered within five seconds, the primary included', async () => {
    await store.fault({ clockRuns: true, d1: ['hangs', 'hangs'] });
    const reply = await count(store.fetch('/v1/pets', { headers }));
    expect([reply.status, (await store.calls()).d1]).toEqual([503, 2]);
    const [line] = await store.logLines();
    const within = Number(/^D1 did not answer within (\d+) ms/.exec(String(line?.cause))?.[1]);
    expect(within).toBeLessThanOrEqual(5_000);
    expect(within).toBeGreaterThan(2_000);
  });
});

/** What D1 says: https://developers.cloudflare.com/d1/observability/debug-d1/#error-list */
describe('each message of D1 is taken for what it is', () => {
  test.each([
    ['D1 DB reset because its code was updated.', 200, 2],
    ['Internal error while starting up D1 DB storage caused object to be reset.', 200, 2],
    ['Network connection lost.', 200, 2],
    ['Internal error in D1 DB storage caused object to be reset.', 200, 2],
    ['Cannot resolve D1 DB due to transient issue on remote node.', 200, 2],
    ["Can't read from request stream because client disconnected.", 200, 2],
    ['D1 DB storage operation exceeded timeout which caused object to be reset.', 503, 1],
    ['D1 DB is overloaded. Too many requests queued.', 503, 1],
    ['D1 DB is overloaded. Requests queued for too long.', 503, 1],
    ['D1 DB exceeded its memory limit and was reset.', 503, 1],
    ['D1 DB exceeded its CPU time limit and was reset.', 503, 1],
    ['database is locked: SQLITE_BUSY', 200, 2],
    ['interrupted: SQLITE_INTERRUPT', 200, 2],
    ['disk I/O error: SQLITE_IOERR', 200, 2],
    ['something new', 503, 1],
    ['Exceeded maximum DB size.', 500, 1],
    ["Your account has exceeded D1's maximum account storage limit", 500, 1],
    ['cannot store REAL value in INTEGER column pets.category_id: SQLITE_CONSTRAINT', 500, 1],
    ['too many SQL variables at offset 1: SQLITE_ERROR', 500, 1],
    ["D1_TYPE_ERROR: Type 'bigint' not supported for value '1'", 500, 1],
    ['Wrong number of parameter bindings for SQL query.', 500, 1],
  ])('%s', async (text, status, attempts) => {
    await store.fault({ d1: [{ text: `D1_ERROR: ${text}` }] });
    const reply = await OPERATIONS.listPets();
    expect(reply.status).toBe(status);
    expect((await store.calls()).d1).toBe(attempts);
    if (status === 200) return;
    const [line] = await store.logLines();
    expect(line?.cause).toContain(text);
  });
});

test.each([
  ['database is locked: SQLITE_BUSY', 201],
  ['disk I/O error: SQLITE_IOERR', 503],
])(
  'a create without a key after %s is a %i: it is repeated only if nothing was written',
  async (text, status) => {
    await store.fault({ d1: [{ text: `D1_ERROR: ${text}` }] });
    expect((await count(store.create(REX))).status).toBe(status);
    expect(await names()).toEqual(status === 201 ? ['Rex'] : []);
  },
);

const BUSY: D1Fault = { text: 'D1_ERROR: database is locked: SQLITE_BUSY' };

test('a database that stays busy wrote nothing, and the message says so', async () => {
  await store.fault({ d1: [BUSY, BUSY, BUSY] });
  const { body } = await count(store.create(REX));
  expect(body).toMatchObject({ message: 'The database is busy. Nothing was written.' });
  expect(await names()).toEqual([]);
});

test('a database that is busy after an answer was lost may have written', async () => {
  await store.fault({ d1: ['loses the answer', BUSY, BUSY] });
  const { body } = await count(store.create(REX, { headers: { 'idempotency-key': 'k' } }));
  expect(body).toMatchObject({ message: UNAVAILABLE.once });
  expect(await names()).toEqual(['Rex']);
});

/** Sends a create until it is answered with a 201, as a client would. */
async function untilAnswered(name: string, key: string): Promise<Reply> {
  for (let attempt = 0; attempt < 30; attempt += 1) {
    const body = { name, categoryId: 1 };
    const reply = await count(store.create(body, { headers: { 'idempotency-key': key } }));
    if (reply.status === 201) return reply;
    expect([500, 503]).toContain(reply.status);
  }
  throw new Error(`${name} was never answered`);
}

test('50 concurrent creates with one key, a third of the answers lost: one animal, one answer', async () => {
  const d1AtRandom = { rate: 1 / 3, faults: ['loses the answer' as const], seed: 1 };
  await store.fault({ d1AtRandom });
  const replies = await Promise.all(Array.from({ length: 50 }, () => untilAnswered('Rex', 'one')));
  const { d1Faults } = await store.calls();
  expect(d1Faults).toBeGreaterThan(10);
  totals.faults += d1Faults;
  expect(new Set(replies.map(({ text }) => text)).size).toBe(1);
  const added = await names();
  totals.doubled += added.length - 1;
  expect(added).toEqual(['Rex']);
});

test('200 creates under 20 % faults of every kind: 200 animals, each readable under its own id', async () => {
  const every: D1Fault[] = [
    'throws',
    'loses the answer',
    'hangs',
    'hangs after',
    'is slow',
    'is overloaded',
    'is full',
    'has another schema',
  ];
  await store.fault({ d1AtRandom: { rate: 0.2, faults: every, seed: 2 } });
  const wanted = Array.from({ length: 200 }, (_, i) => `Pet ${i}`);
  const replies: Reply[] = [];
  for (let i = 0; i < wanted.length; i += 20) {
    const some = wanted.slice(i, i + 20).map((name) => untilAnswered(name, `key of ${name}`));
    replies.push(...(await Promise.all(some)));
  }
  const { d1Faults } = await store.calls();
  expect(d1Faults).toBeGreaterThan(20);
  totals.faults += d1Faults;

  await store.fault({});
  const written = await names();
  totals.lost += wanted.filter((name) => !written.includes(name)).length;
  totals.doubled += written.length - new Set(written).size;
  expect(written.sort()).toEqual([...wanted].sort());
  const ids = new Set(replies.map(({ body }) => (body as { id: number }).id));
  expect(ids.size).toBe(200);
  for (const reply of replies) {
    const { id } = reply.body as { id: number };
    expect((await store.fetch(`/v1/pets/${id}`)).text).toBe(reply.text);
  }
});

test('a full id space is a 500 that an operator understands, and nothing is half-written', async () => {
  const { DB } = await store.bindings();
  await DB.prepare('INSERT INTO pets (id, name, category_id) VALUES (?1, ?2, 1)')
    .bind('9223372036854775807', 'last')
    .run();
  for (const headers of [{}, { 'idempotency-key': 'k' }]) {
    const reply = await store.create(REX, { headers });
    expect(reply.body).toMatchObject({ code: 'internal_error' });
  }
  for (const line of await store.logLines()) {
    expect(line).toMatchObject({ cause: expect.stringContaining('the last id is used') });
  }
  expect(await names()).toEqual(['last']);
  const records = await DB.prepare('SELECT count(*) AS n FROM idempotency_keys').first('n');
  expect(records).toBe(0);
});
