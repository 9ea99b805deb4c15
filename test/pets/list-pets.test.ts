import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { encodeCursor } from '../../src/http/cursor.ts';
import { insertRow } from '../../src/idempotency/queries.ts';
import { petInsertion, selectPets } from '../../src/pets/queries.ts';
import { startStore } from '../store.ts';

const store = startStore();

type Pet = { id: number; name: string; categoryId: number; status?: string };

const LIMIT = 'limit: must be an integer from 1 to 100';
const STATUS = 'status: must be one of available, pending, sold';
const CURSOR = 'cursor: must be a cursor from the Link header of this list';
const FILTER = 'cursor: must be used with the status filter that it was made for';

/** Adds `count` animals with the statuses available, pending, sold, none in turn. */
async function seed(count: number): Promise<void> {
  const { DB } = await store.bindings();
  await DB.prepare(
    `WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < ?1)
     INSERT INTO pets (name, category_id, status)
     SELECT 'Pet ' || i, i, CASE i % 4 WHEN 0 THEN 'available' WHEN 1 THEN 'pending' WHEN 2 THEN 'sold' END FROM n`,
  )
    .bind(count)
    .run();
}

function nextPath(headers: Headers): string | undefined {
  const address = /^<([^>]+)>; rel="next"$/.exec(headers.get('link') ?? '')?.[1];
  if (!address) return undefined;
  const { pathname, search } = new URL(address);
  return pathname + search;
}

/** Follows `Link` from a path to the last page; calls `between` after each page. */
async function walk(
  path: string,
  between: () => Promise<unknown> = async () => {},
): Promise<Pet[][]> {
  const pages: Pet[][] = [];
  for (let next: string | undefined = path; next; ) {
    const { status, body, headers } = await store.fetch(next);
    expect(status).toBe(200);
    pages.push(body as Pet[]);
    next = nextPath(headers);
    await between();
  }
  return pages;
}

describe('a page', () => {
  test('of an empty store is an empty array without a Link', async () => {
    const reply = await store.fetch('/v1/pets');
    expect(reply.status).toBe(200);
    expect(reply.text).toBe('[]');
    expect(reply.headers.get('content-type')).toBe('application/json');
    expect(reply.headers.has('link')).toBe(false);
  });

  test('has 20 animals by default', async () => {
    await seed(21);
    const { body, headers } = await store.fetch('/v1/pets');
    expect(body).toHaveLength(20);
    expect(headers.get('link')).toMatch(
      /^<http:.*\/v1\/pets\?limit=20&cursor=[\w-]+>; rel="next"$/,
    );
  });

  test('that contains all remaining animals is the last one', async () => {
    await seed(20);
    const { body, headers } = await store.fetch('/v1/pets');
    expect(body).toHaveLength(20);
    expect(headers.has('link')).toBe(false);
  });

  test('has only animals with the requested status', async () => {
    await seed(12);
    for (const status of ['available', 'pending', 'sold']) {
      const pets = (await store.fetch(`/v1/pets?status=${status}`)).body as Pet[];
      expect(pets.map((pet) => pet.status)).toEqual([status, status, status]);
    }
  });

  test('can start with negative ids', async () => {
    const { DB } = await store.bindings();
    const ids = ['-9223372036854775808', '-1', '0', '9007199254740993', '9223372036854775807'];
    for (const id of ids) {
      await DB.prepare('INSERT INTO pets (id, name, category_id) VALUES (?1, ?2, 1)')
        .bind(id, 'x')
        .run();
    }
    for (const limit of [1, 2, 100]) {
      const found: string[] = [];
      for (let next: string | undefined = `/v1/pets?limit=${limit}`; next; ) {
        const { text, headers } = await store.fetch(next);
        found.push(...Array.from(text.matchAll(/"id":(-?[0-9]+)/g), ([, id = '']) => id));
        next = nextPath(headers);
      }
      expect(found).toEqual(ids);
    }
  });

  test('may have another limit than the one before', async () => {
    await seed(9);
    const first = await store.fetch('/v1/pets?limit=2');
    const next = nextPath(first.headers)?.replace('limit=2', 'limit=7') ?? '';
    const second = await store.fetch(next);
    const names = [first, second].flatMap(({ body }) => (body as Pet[]).map(({ name }) => name));
    expect(names).toEqual(Array.from({ length: 9 }, (_, i) => `Pet ${i}`));
  });
});

test('the pages have each animal exactly once, in order, while others are added', async () => {
  const { DB } = await store.bindings();
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.constantFrom('available', 'pending', 'sold', undefined), { maxLength: 40 }),
      fc.integer({ min: 1, max: 12 }),
      fc.constantFrom('available', 'sold', undefined),
      async (statuses, limit, filter) => {
        await DB.exec('DELETE FROM pets');
        for (const status of statuses) {
          await DB.prepare('INSERT INTO pets (name, category_id, status) VALUES (?1, 1, ?2)')
            .bind('old', status ?? null)
            .run();
        }
        let added = 0;
        const pages = await walk(
          `/v1/pets?limit=${limit}${filter ? `&status=${filter}` : ''}`,
          async () => {
            if (added >= 5) return;
            added += 1;
            await store.create({ name: 'new', categoryId: 1, status: 'sold' });
          },
        );
        const seen = pages.flat();
        const ids = seen.map(({ id }) => id);
        expect(ids).toEqual([...new Set(ids)].sort((a, b) => a - b));
        for (const page of pages.slice(0, -1)) expect(page).toHaveLength(limit);
        const expected = statuses.filter((status) => !filter || status === filter);
        expect(seen.filter(({ name }) => name === 'old').map(({ status }) => status)).toEqual(
          expected,
        );
      },
    ),
    { numRuns: 25 },
  );
});

describe('an invalid query', () => {
  test.each([
    ['limit=0', LIMIT],
    ['limit=101', LIMIT],
    ['limit=abc', LIMIT],
    ['limit=', LIMIT],
    ['limit', LIMIT],
    ['limit=%205', LIMIT],
    ['limit=5%20', LIMIT],
    ['limit=0x10', LIMIT],
    ['limit=1e1', LIMIT],
    ['limit=+5', LIMIT],
    ['limit=%2B5', LIMIT],
    ['limit=-5', LIMIT],
    ['limit=5.0', LIMIT],
    ['limit=%EF%BC%95', LIMIT],
    ['limit=5%0A', LIMIT],
    ['limit=99999999999999999999', LIMIT],
    [`limit=${'9'.repeat(1000)}`, LIMIT],
    ['=5', 'query: every parameter must have a name'],
    ['limit=?=', LIMIT],
    ['limit=0&=', `${LIMIT}; query: every parameter must have a name`],
    ['limit=5&limit=5', 'limit: must be given only once'],
    ['status=SOLD', STATUS],
    ['status=', STATUS],
    ['status=null', STATUS],
    ['status=available,sold', STATUS],
    ['status=sold&status=sold', 'status: must be given only once'],
    ['stauts=sold', 'stauts: is not a known parameter, did you mean status?'],
    ['Limit=5', 'Limit: is not a known parameter, did you mean limit?'],
    ['offset=5', 'offset: is not a known parameter'],
    ['__proto__=5', '__proto__: is not a known parameter'],
    ['x=1&x=2', 'x: is not a known parameter'],
    ['cursor=', CURSOR],
    ['cursor=garbage', CURSOR],
    ['cursor=%F0%9F%90%B6', CURSOR],
    [`cursor=${btoa('2..5.abc')}`, CURSOR],
    [`cursor=${encodeCursor({ scope: 'sold', lastId: 5n })}`, FILTER],
    [`status=sold&cursor=${encodeCursor({ scope: '', lastId: 5n })}`, FILTER],
    [`status=sold&cursor=${encodeCursor({ scope: 'available', lastId: 5n })}`, FILTER],
    [
      `limit=0&status=no&cursor=x&y=1`,
      `${LIMIT}; ${STATUS}; ${CURSOR}; y: is not a known parameter`,
    ],
    [`limit=0&cursor=${encodeCursor({ scope: 'sold', lastId: 5n })}`, `${LIMIT}; ${FILTER}`],
  ])('%s', async (query, message) => {
    const reply = await store.fetch(`/v1/pets?${query}`);
    expect(reply.body).toEqual({ code: 'invalid_request', message, status: 400 });
    expect(reply.status).toBe(400);
  });

  test('a truncated or changed cursor is a 400', async () => {
    const cursor = encodeCursor({ scope: '', lastId: 1234567890123456789n });
    const flipped = Array.from(cursor, (letter, i) => {
      const other = letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase();
      return `${cursor.slice(0, i)}${other === letter ? 'x' : other}${cursor.slice(i + 1)}`;
    });
    const cut = Array.from(cursor, (_, i) => [cursor.slice(0, i), cursor.slice(i + 1)]).flat();
    for (const bad of [...flipped, ...cut, `${cursor}=`, `${cursor}A`]) {
      expect((await store.fetch(`/v1/pets?cursor=${bad}`)).status, bad).toBe(400);
    }
    expect((await store.fetch(`/v1/pets?cursor=${cursor}`)).status).toBe(200);
  });
});

describe('the cost', () => {
  test('of a list is at most limit + 1 rows read, at any depth, with and without filter', async () => {
    await seed(10_000);
    const { DB } = await store.bindings();
    const last = (await DB.prepare('SELECT max(id) AS id FROM pets').first<number>('id')) ?? 0;
    for (const status of [undefined, 'sold']) {
      for (const after of [0, last - 5000, last - 30, last - 1]) {
        for (const limit of [1, 20, 100]) {
          const { meta } = await selectPets(DB, {
            cursor: { scope: '', lastId: BigInt(after) },
            ...{ status, limit },
          });
          expect(meta.rows_read).toBeLessThanOrEqual(limit + 1);
        }
      }
    }
  });

  test.each([
    [undefined, 'SEARCH pets USING INTEGER PRIMARY KEY (rowid>?)'],
    ['sold', 'SEARCH pets USING INDEX pets_by_status (status=? AND rowid>?)'],
  ])('with status %s the plan is ranges alone, and no sorting', async (status, plan) => {
    const { DB } = await store.bindings();
    const explaining = new Proxy(DB, {
      get: (db, name) =>
        name === 'prepare'
          ? (sql: string) => db.prepare(`EXPLAIN QUERY PLAN ${sql}`)
          : Reflect.get(db, name),
    });
    const { results } = await selectPets(explaining, { status, limit: 20 });
    const steps = results.map((step) => ('detail' in step ? String(step.detail) : ''));
    const ofPets = steps.filter((step) => /pets|B-TREE/.test(step));
    // The page, and whether there is more after it: for that the index is enough.
    expect(ofPets.map((step) => step.replace('COVERING ', ''))).toEqual([plan, plan]);
  });

  test('of a create is three rows written: the animal, its index entry, the last id', async () => {
    const { DB } = await store.bindings();
    const pet = petInsertion({ name: 'Rex', categoryId: 1n, status: 'sold' });
    const [{ meta }] = await insertRow(DB, pet);
    expect(meta.rows_written).toBe(3);
  });
});
