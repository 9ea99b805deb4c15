/** createPet: the animal, its id and its address. */
import { expect, test } from 'vitest';
import { contents, deletePet, insertPets } from '../orders/steps.ts';
import { startStore } from '../store.ts';

const store = startStore();

test('an animal is added, and returned with its id and its address', async () => {
  const reply = await store.create({ name: 'Rex', categoryId: 3, status: 'pending' });
  const pet = '{"id":1,"name":"Rex","categoryId":3,"status":"pending"}';
  expect([reply.status, reply.text]).toEqual([201, pet]);
  expect(reply.headers.get('location')).toBe(`${store.url()}/v1/pets/1`);
  expect((await store.fetch('/v1/pets/1')).text).toBe(pet);
});

test('an animal gets an unused id, even after the newest animal was deleted', async () => {
  await insertPets(store, 'available', 'available');
  await deletePet(store, 2);
  expect((await store.create({ name: 'Max', categoryId: 3 })).status).toBe(201);
  expect(await contents(store)).toEqual(['animal 1 Rex 3 available', 'animal 3 Max 3']);
});

test('a body may have a byte order mark and white space, with any Accept', async () => {
  const headers = { accept: 'text/html' };
  const body = '\ufeff \r\n{ "name" : "Rex" ,\t"categoryId" : 12e0 } \n';
  expect((await store.create(body, { headers })).body).toMatchObject({ categoryId: 12 });
});

test.each([
  { name: '"\\/<>&', categoryId: -(2n ** 63n) },
  { name: ' a\u200b\u2028\ufeff ', categoryId: 2n ** 63n - 1n },
  { name: 'Ame\u0301lie, nicht Am\u00e9lie', categoryId: 2n ** 53n + 1n },
  { name: '🐶'.repeat(255), categoryId: 0n },
])('the name $name and the category $categoryId are stored exactly', async (pet) => {
  const fields = `"name":${JSON.stringify(pet.name)},"categoryId":${pet.categoryId}}`;
  const { text } = await store.create(`{${fields}`);
  expect(text).toBe(`{"id":1,${fields}`);
  expect((await store.fetch('/v1/pets/1')).text).toBe(text);
});
