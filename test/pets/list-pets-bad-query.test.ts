/** listPets rejects invalid queries, and names every invalid parameter. */
import { expect, test } from 'vitest';
import { encodeCursor } from '../../src/http/cursor.ts';
import { startApp } from '../in-process.ts';
import { startStore } from '../store.ts';

const store = startStore();
const send = startApp(store);

const LIMIT = 'limit: must be an integer from 1 to 100';
const STATUS = 'status: must be one of available, pending, sold';
const CURSOR = 'cursor: must be a cursor from the Link header of this list';
const FILTER = 'cursor: must be used with the status filter that it was made for';

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
  [`cursor=${encodeCursor({ list: 'pets', filters: 'status=sold', lastId: 5n })}`, FILTER],
  [`status=sold&cursor=${encodeCursor({ list: 'pets', filters: '', lastId: 5n })}`, FILTER],
  [
    `status=sold&cursor=${encodeCursor({ list: 'pets', filters: 'status=available', lastId: 5n })}`,
    FILTER,
  ],
  [`limit=0&status=no&cursor=x&y=1`, `${LIMIT}; ${STATUS}; ${CURSOR}; y: is not a known parameter`],
  [
    `limit=0&cursor=${encodeCursor({ list: 'pets', filters: 'status=sold', lastId: 5n })}`,
    `${LIMIT}; ${FILTER}`,
  ],
])('the query %s is a 400', async (query, message) => {
  const reply = await send('GET', `/v1/pets?${query}`);
  expect(reply.body).toEqual({ code: 'invalid_request', message, status: 400 });
  expect(reply.status).toBe(400);
});

test('a truncated or changed cursor is a 400', async () => {
  const cursor = encodeCursor({ list: 'pets', filters: '', lastId: 1234567890123456789n });
  const flipped = Array.from(cursor, (letter, i) => {
    const other = letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase();
    return `${cursor.slice(0, i)}${other === letter ? 'x' : other}${cursor.slice(i + 1)}`;
  });
  const cut = Array.from(cursor, (_, i) => [cursor.slice(0, i), cursor.slice(i + 1)]).flat();
  for (const bad of [...flipped, ...cut, `${cursor}=`, `${cursor}A`]) {
    expect((await send('GET', `/v1/pets?cursor=${bad}`)).status, bad).toBe(400);
  }
  expect((await store.fetch(`/v1/pets?cursor=${cursor}`)).status).toBe(200);
});
