import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { insertRow } from '../../src/d1/idempotency/queries.ts';
import { petInsertion, selectPets } from '../../src/pets/queries.ts';
import { startStore } from '../store.ts';

const store = startStore();

type Pet = { id: number; name: string; categoryId: number; status?: string };

/** Adds `count` animals with the statuses available, pending, sold, none in turn. */
function seed(count: number): Promise<void> {
  return store.exec(
    `WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < ${count})
     INSERT INTO pets (name, category_id, status)
     SELECT 'Pet ' || i, i, CASE i % 4 WHEN 0 THEN 'available' WHEN 1 THEN 'pending' WHEN 2 THEN 'sold' END FROM n`,
  );
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
    const ids = ['-9223372036854775808', '-1', '0', '9007199254740993', '9223372036854775807'];
    const rows = ids.map((id) => `(${id}, 'x', 1)`);
    await store.exec(`INSERT INTO pets (id, name, category_id) VALUES ${rows.join(', ')}`);
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
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.constantFrom('available', 'pending', 'sold', undefined), { maxLength: 40 }),
      fc.integer({ min: 1, max: 12 }),
      fc.constantFrom('available', 'sold', undefined),
      async (statuses, limit, filter) => {
        await store.exec(
          `DELETE FROM pets; INSERT INTO pets (name, category_id, status)
             SELECT 'old', 1, value FROM json_each('${JSON.stringify(statuses)}')`,
        );
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

describe('the cost', () => {
  test('of a list is at most limit + 1 rows read, at any depth, with and without filter', async () => {
    await seed(10_000);
    const { DB } = await store.bindings();
    const last = (await DB.prepare('SELECT max(id) AS id FROM pets').first<number>('id')) ?? 0;
    for (const status of [undefined, 'sold']) {
      for (const after of [0, last - 5000, last - 30, last - 1]) {
        for (const limit of [1, 20, 100]) {
          const { meta } = await selectPets(DB, {
            cursor: { list: 'pets', filters: '', lastId: BigInt(after) },
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
