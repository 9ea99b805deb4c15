/**
 * PATCH /v1/pets/{petId}: updatePet, a merge patch (RFC 7396). An open order also rejects
 * deletePet.
 */
import { expect, test } from 'vitest';
import { sendWithoutD1 } from '../support/in-process.ts';
import { exact, expectError, startStore } from '../support/store.ts';

const store = startStore();
const updatePet = (id: bigint | number, patch: unknown) =>
  store.send('PATCH', `/v1/pets/${id}`, patch);

const REX = { id: 7, name: 'Rex', categoryId: 3, status: 'available' };

test.each<Record<string, string | number | null>>([
  { name: 'Max' },
  { categoryId: 0 },
  { status: 'sold' },
  { status: null },
  { name: 'Tom', categoryId: 9 },
])('the patch %j changes these fields alone', async (patch) => {
  await store.insertPet({ id: 7, status: 'available' });
  // An open order keeps the status alone, and that of its own animal.
  await store.insertOrder({ pet_id: 'status' in patch ? 8 : 7, status: 'placed' });
  const { status, body } = await updatePet(7, patch);
  const isRemoved = patch.status === null;
  const expected = { ...REX, ...patch, ...(isRemoved && { status: undefined }) };
  expect([status, body]).toEqual([200, expected]);
  expect((await store.fetch('/v1/pets/7')).body).toEqual(body);
});

test('an int64 is exact, and no other animal changes, although their ids are one double', async () => {
  const id = 2n ** 53n + 1n;
  await store.insertPet({ id: 2n ** 53n });
  await store.insertPet({ id });
  const reply = await updatePet(id, '{"categoryId":-9007199254740993}');
  expect(exact(reply)).toEqual({ id, name: 'Rex', categoryId: -id });
  expect(await store.rows('pets')).toMatchObject([{ category_id: 3 }, { category_id: -(2 ** 53) }]);
});

test('an animal with an open order keeps its status, and is not deleted', async () => {
  for (const [id, status] of ['placed', 'approved'].entries()) {
    // Only the order counts.
    await store.insertPet({ id, status: 'available' });
    await store.insertOrder({ pet_id: id, status });
    const send = (method: string, patch?: object) =>
      store.expectUnchanged(() => store.send(method, `/v1/pets/${id}`, patch));
    const message =
      `The animal ${id} cannot be deleted, and its status cannot be set, ` +
      'until its open order is delivered or cancelled.';
    for (const petStatus of ['sold', null]) {
      const reply = await send('PATCH', { name: 'Max', status: petStatus });
      expectError(reply, 409, 'pet_has_open_order', message);
    }
    expectError(await send('DELETE'), 409, 'pet_has_open_order', message);
  }
});

test.each([
  ['{}', 'body: must have at least one field'],
  ['{"name":null}', 'name: must be a string'],
  ['{"status":"Sold"}', 'status: must be one of available, pending, sold'],
])('the merge patch %s is a 400', async (body, message) => {
  const headers = { 'content-type': 'application/merge-patch+json; charset=utf-8' };
  const reply = await sendWithoutD1('PATCH', '/v1/pets/1', body, headers);
  expectError(reply, 400, 'invalid_request', message);
});

test.each([{ 'content-type': 'application/json-patch+json' }, { 'content-encoding': 'gzip' }])(
  'with %j, a 415 names the media types',
  async (headers) => {
    const reply = await sendWithoutD1('PATCH', '/v1/pets/1', '{}', headers);
    const types = 'application/json, application/merge-patch+json';
    expect([reply.status, reply.headers.get('accept')]).toEqual([415, types]);
    expect(reply.headers.get('accept-patch')).toBe(types);
  },
);
