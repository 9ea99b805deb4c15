/** PATCH /v1/pets/{petId}: updatePet, a merge patch (RFC 7396). */
import { expect, test } from 'vitest';
import { startApp } from '../support/in-process.ts';
import { expectError, startStore } from '../support/store.ts';

const store = startStore();
const sendWithoutD1 = startApp(store);
const updatePet = (id: bigint | number, patch: unknown) =>
  store.send('PATCH', `/v1/pets/${id}`, patch);

const REX = { id: 7, name: 'Rex', categoryId: 3, status: 'available' };
const insertRex = () => store.insertPet({ id: 7, status: 'available' });

test.each([{ name: 'Max' }, { categoryId: 0 }, { status: 'sold' }, { name: 'Tom', categoryId: 9 }])(
  'the patch %j changes these fields alone',
  async (patch) => {
    await insertRex();
    const { status, body } = await updatePet(7, patch);
    expect([status, body]).toMatchObject([200, { ...REX, ...patch }]);
    expect((await store.fetch('/v1/pets/7')).body).toEqual(body);
  },
);

test('null removes the status', async () => {
  await insertRex();
  const { body } = await updatePet(7, { status: null });
  expect(body).not.toHaveProperty('status');
  expect((await store.fetch('/v1/pets/7')).body).toEqual(body);
});

test('an int64 is exact', async () => {
  await insertRex();
  await updatePet(7, '{"categoryId":-9007199254740993}');
  expect((await store.fetch('/v1/pets/7')).text).toContain('"categoryId":-9007199254740993');
});

test('no other animal changes, although their ids are one double', async () => {
  await store.insertPet({ id: 2n ** 53n, name: 'Rex' });
  await store.insertPet({ id: 2n ** 53n + 1n, name: 'Mia' });
  await updatePet(2n ** 53n + 1n, { name: 'Max' });
  expect(await store.rows('pets')).toMatchObject([{ name: 'Rex' }, { name: 'Max' }]);
});

test.each([
  {
    order: 'placed',
    status: 'sold',
    message: expect.stringContaining('until its open order is delivered or cancelled'),
  },
  { order: 'approved', status: null },
])('the status of an animal whose order is $order cannot become $status', async (each) => {
  await store.insertPet({ id: 7, status: 'pending' });
  await store.insertOrder({ pet_id: 7, status: each.order });
  const reply = await store.expectUnchanged(() =>
    updatePet(7, { name: 'Max', status: each.status }),
  );
  expectError(reply, 409, 'pet_has_open_order', each.message);
});

test('an animal with an open order can get another name and category', async () => {
  await store.insertPet({ id: 7, status: 'pending' });
  await store.insertOrder({ pet_id: 7, status: 'placed' });
  const { body } = await updatePet(7, { name: 'Max', categoryId: 4 });
  expect(body).toMatchObject({ name: 'Max', categoryId: 4, status: 'pending' });
});

test.each([
  ['{}', 'body: must have at least one field'],
  ['{"nmae":1}', expect.stringMatching(/^nmae: [^;]+: name, [^;]+$/)],
  ['{"name":null}', expect.stringMatching(/^name: /)],
  ['{"name":"a\\ud800"}', expect.stringMatching(/^name: /)],
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
    expect(reply.status).toBe(415);
    expect(reply.headers.get('accept')).toBe(types);
    expect(reply.headers.get('accept-patch')).toBe(types);
  },
);
