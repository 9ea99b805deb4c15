/** Queries that listPets and listOrders reject before D1 is reached: `send` has no D1. */
import { describe, expect, test } from 'vitest';
import { startApp } from '../in-process.ts';
import { expectError, seedStore } from '../orders/steps.ts';
import { startStore } from '../store.ts';
import { nextPath } from './pages.ts';

const store = startStore();
const send = startApp(store);

const LIMIT = 'limit: must be an integer from 1 to 100';
const CURSOR = 'cursor: must be a cursor from the Link header of this list';
const FILTER = 'cursor: must be used with the status filter that it was made for';
const NAMELESS = 'query: every parameter must have a name';

async function expectInvalid(path: string, message: string): Promise<void> {
  expectError(await send('GET', path), 400, 'invalid_request', message);
}

test.each([
  ...['0', '101', '-5', '5.0', '1e1', '0x10', '%2B5', '%205', '5%0A', 'abc', '%EF%BC%95'],
  ...['', '9'.repeat(1000)],
])('the limit %s is not an integer from 1 to 100 in decimal digits', (limit) =>
  expectInvalid(`/v1/pets?limit=${limit}`, LIMIT),
);

describe.each([
  ['/v1/pets', 'status: must be one of available, pending, sold'],
  ['/v1/store/orders', 'status: must be one of placed, approved, delivered, cancelled'],
])('%s rejects', (path, statuses) => {
  test.each([
    ['limit=5&limit=5', 'limit: must be given only once'],
    ['status=SOLD', statuses],
    ['status=sold&status=sold', 'status: must be given only once'],
    ['cursor=', CURSOR],
    ['cursor=a&cursor=a', 'cursor: must be given only once'],
    ['stauts=sold', 'stauts: is not a known parameter, did you mean status?'],
    ['__proto__=5', '__proto__: is not a known parameter'],
    ['=5&limit=0', `${LIMIT}; ${NAMELESS}`],
    ['limit=0&status=no&cursor=x', `${LIMIT}; ${statuses}; ${CURSOR}`],
  ])('%s', (query, message) => expectInvalid(`${path}?${query}`, message));
});

describe('a cursor', () => {
  /** The `cursor` of the second page. */
  async function cursorOf(list: string): Promise<string> {
    const path = nextPath(await store.fetch(`${list}limit=1`)) ?? '';
    return new URL(path, store.url()).searchParams.get('cursor') ?? '';
  }

  test.each([
    ['/v1/pets?', '/v1/store/orders?', CURSOR],
    ['/v1/pets?status=sold&', '/v1/pets?limit=0&', `${LIMIT}; ${FILTER}`],
  ])('of %s is not one of %s', async (list, other, message) => {
    await seedStore(store, 12);
    await expectInvalid(`${other}cursor=${await cursorOf(list)}`, message);
  });

  test('is rejected when a character was changed, removed or added', async () => {
    await store.exec(
      "INSERT INTO pets VALUES (1234567890123456789, 'Rex', 3, NULL), (9000000000000000000, 'Rex', 3, NULL)",
    );
    const cursor = await cursorOf('/v1/pets?');
    expect((await store.fetch(`/v1/pets?cursor=${cursor}`)).status).toBe(200);
    const damaged = Array.from(cursor, (character, i) => {
      const [start, end] = [cursor.slice(0, i), cursor.slice(i + 1)];
      const swapped = character === 'x' ? 'y' : 'x';
      return [start, start + end, `${start}${swapped}${end}`];
    });
    for (const text of [...damaged.flat(), `${cursor}=`, `${cursor}A`]) {
      await expectInvalid(`/v1/pets?cursor=${text}`, CURSOR);
    }
  });

  test('made by version 1.0.0 stays valid', async () => {
    await seedStore(store, 12);
    // The list, the last id, the filter and their CRC-32: 1.pets.6.status=sold.2gwr52
    const cursor = 'MS5wZXRzLjYuc3RhdHVzPXNvbGQuMmd3cjUy';
    const reply = await store.fetch(`/v1/pets?status=sold&cursor=${cursor}`);
    expect(reply.body).toMatchObject([{ id: 10 }]);
  });
});
