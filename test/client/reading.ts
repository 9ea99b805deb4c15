/** Pages, sessions, and response metadata. */
import { all, type Behaviour, expectEqual, failureOf, recording } from './context.ts';

const insertPets = (count: number) =>
  `INSERT INTO pets (name, category_id, status)
   WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count})
   SELECT 'Pet ' || i, 1, CASE i % 2 WHEN 0 THEN 'sold' ELSE 'available' END FROM n`;
const SECOND = '00000002-00000000-00000000-00000000000000000000000000000000';
const FIRST = '00000001-00000000-00000000-00000000000000000000000000000000';

export const reading: Record<string, Behaviour> = {
  'for await lists every animal once, in order, while others are added': async (c) => {
    await c.sql(insertPets(25));
    const store = c.connect();
    const ids: bigint[] = [];
    let added = 0;
    for await (const pet of store.listPets({ limit: 4 })) {
      ids.push(pet.id);
      if (added < 10) added += 1;
      else continue;
      await store.createPet({ name: 'Another', categoryId: 1n });
    }
    expectEqual(
      ids,
      Array.from({ length: 35 }, (_, i) => BigInt(i + 1)),
    );
  },
  'for await applies the filter, requests large pages, and stops when the loop stops': async (
    c,
  ) => {
    await c.sql(insertPets(250));
    const sent = recording();
    const store = c.connect({ fetch: sent.fetch });
    const sold = await all(store.listPets({ status: 'sold' }));
    expectEqual([sold.length, sold.at(-1)?.id, sent.requests.length], [125, 250n, 2]);
    for await (const pet of store.listPets()) if (pet.id === 3n) break;
    expectEqual(sent.requests.length, 3);
  },
  'a walk with an undefined limit takes as few requests as one without': async (c) => {
    await c.sql(insertPets(150));
    const sent = recording();
    const store = c.connect({ fetch: sent.fetch });
    const pets = await all(store.listPets({ limit: undefined, status: undefined }));
    expectEqual([pets.length, sent.requests.length], [150, 2]);
    expectEqual((await all(store.listOrders({ limit: undefined }))).length, 0);
    expectEqual(sent.requests.at(-1)?.url, `${c.baseUrl}/store/orders?limit=100`);
  },
  'a page has the address of the next one, the last page has none': async (c) => {
    await c.sql(insertPets(3));
    const store = c.connect();
    const first = await store.listPets({ limit: 2 }).page();
    expectEqual(
      first.items.map(({ id }) => id),
      [1n, 2n],
    );
    const last = await store.listPets().page(first.next);
    expectEqual([last.items.map(({ id }) => id), last.next], [[3n], undefined]);
    expectEqual((await c.connect().listPets().page()).items.length, 3);
  },
  'a page at another address is not requested: it would receive the API key': async (c) => {
    const sent = recording();
    const store = c.connect({ fetch: sent.fetch });
    for (const next of ['https://evil.example/v1/pets', `${c.baseUrl}/store/orders`]) {
      const rejection = await store
        .listPets()
        .page(next)
        .catch((error: unknown) => error);
      expectEqual(rejection instanceof TypeError, true);
    }
    expectEqual(sent.requests.length, 0);
  },
  'an error ends a for await': async (c) => {
    const store = c.connect({ apiKey: 'no-key' });
    expectEqual((await failureOf(c, all(store.listOrders()))).code, 'invalid_api_key');
  },
  'a session sends the newest bookmark, other requests send none': async (c) => {
    const sent = recording();
    const store = c.connect({ fetch: sent.fetch });
    const session = store.session();
    expectEqual(session.bookmark, 'first-primary');
    const rex = await session.createPet({ name: 'Rex', categoryId: 1n });
    const afterCreate = session.bookmark;
    expectEqual(await all(session.listPets()), [rex]);
    await failureOf(c, session.deletePet(2n));
    await store.listPets().page();
    await store.session(session.bookmark).listPets().page();
    const bookmarks = sent.requests.map(({ headers }) => headers.get('X-D1-Bookmark'));
    expectEqual(bookmarks.slice(0, 2), ['first-primary', afterCreate]);
    expectEqual(/^[0-9a-f]{8}-/.test(afterCreate), true);
    expectEqual(bookmarks.slice(3), [null, session.bookmark]);
  },
  'a session keeps the newest bookmark when responses arrive out of order': async (c) => {
    const bookmarks = [SECOND, FIRST];
    const sent = recording(async () =>
      Response.json([], { headers: { 'X-D1-Bookmark': bookmarks.shift() ?? '' } }),
    );
    const session = c.connect({ fetch: sent.fetch }).session('first-unconstrained');
    for (let i = 0; i < 3; i += 1) await session.listPets().page();
    expectEqual(
      sent.requests.map(({ headers }) => headers.get('X-D1-Bookmark')),
      ['first-unconstrained', SECOND, SECOND],
    );
    expectEqual(session.bookmark, SECOND);
  },
  'metadata has the request id, the deprecation and the sunset; errors have them, too': async (
    c,
  ) => {
    await c.sql(insertPets(1));
    const { data, metadata } = await c.connect().getPet(1n).withMetadata();
    const { status, requestId, deprecation, sunset, idempotencyReplayed, attempts } = metadata;
    expectEqual([data.id, status, attempts, idempotencyReplayed], [1n, 200, 1, false]);
    expectEqual(/^[0-9a-f-]{36}$/.test(requestId ?? ''), true);
    const DATES = ['2026-11-20T00:00:00.000Z', '2030-12-05T00:00:00.000Z'];
    expectEqual([deprecation, sunset], DATES);
    const missing = await failureOf(c, c.connect().getPet(2n).withMetadata());
    expectEqual(
      [missing.code, missing.status, missing.message.length > 0],
      ['pet_not_found', 404, true],
    );
    expectEqual([missing.metadata?.deprecation, missing.requestId?.length], [DATES[0], 36]);
    const { metadata: page } = await c.connect().listPets().page();
    expectEqual(
      [page.deprecation, page.sunset, page.requestId?.length],
      [undefined, undefined, 36],
    );
  },
  'the base URL may end with a slash': async (c) => {
    expectEqual(await all(c.connect({ baseUrl: `${c.baseUrl}/` }).listPets()), []);
  },
};
