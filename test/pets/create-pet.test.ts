/** createPet: what may be sent, and is stored exactly. */
import { expect, test } from 'vitest';
import { MAX_NAME_LENGTH } from '../../src/pets/schemas.ts';
import { startStore } from '../support/store.ts';

const store = startStore();

test('an animal is answered with its id and its address, and found there', async () => {
  const created = await store.createPet({ name: 'Rex', categoryId: 3, status: 'available' });
  expect(created).toMatchObject({
    status: 201,
    body: { id: 1, name: 'Rex', categoryId: 3, status: 'available' },
  });
  expect(created.headers.get('location')).toBe(`${store.url()}/v1/pets/1`);
  expect((await store.fetch('/v1/pets/1')).body).toEqual(created.body);
});

test('a body may have a byte order mark and white space', async () => {
  const reply = await store.createPet('\ufeff \r\n{ "name" : "Rex" ,\t"categoryId" : 3 } \n');
  expect(reply.body).toEqual({ id: 1, name: 'Rex', categoryId: 3 });
});

test.each([
  {
    because: 'JSON and HTML escape the characters, and the category is the smallest int64',
    name: '"\\/<>&',
    categoryId: -(2n ** 63n),
  },
  {
    because: 'a trim would remove the ends, and the category is the largest int64',
    name: ' a\u200b\u2028\ufeff ',
    categoryId: 2n ** 63n - 1n,
  },
  {
    because: 'a normalization would make both words one, and a double would round the category',
    name: 'Ame\u0301lie, nicht Am\u00e9lie',
    categoryId: 2n ** 53n + 1n,
  },
  {
    because: 'the longest name has two UTF-16 code units for each character',
    name: '🐶'.repeat(MAX_NAME_LENGTH),
    categoryId: 0n,
  },
])('an animal is stored exactly, although $because', async (pet) => {
  const name = JSON.stringify(pet.name);
  const { text } = await store.createPet(`{"name":${name},"categoryId":${pet.categoryId}}`);
  expect(text).toBe(`{"id":1,"name":${name},"categoryId":${pet.categoryId}}`);
  expect((await store.fetch('/v1/pets/1')).text).toBe(text);
});
