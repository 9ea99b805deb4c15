/** createPet: the animal, its id and its address. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { contents, deletePet, insertPets } from '../orders/steps.ts';
import { REPEAT } from '../repeat.ts';
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

test('every valid name and every int64 is returned as it was sent', async () => {
  const special = fc.constantFrom('"', '\\', '/', '<', ' ', '\u200b', '\u2028', '\ufeff');
  const any = fc.oneof(
    special,
    fc.nat(0x10ffff).map((code) => String.fromCodePoint(code)),
  );
  const names = fc
    .string({ unit: any, maxLength: 254 })
    .map((text) => `${text.replaceAll(/[\p{Cc}\p{Cs}]/gu, '')}🐶`);
  const [min, max] = [-(2n ** 63n), 2n ** 63n - 1n];
  const integers = fc.oneof(fc.bigInt({ min, max }), fc.constantFrom(min, max, 2n ** 53n + 1n));
  await fc.assert(
    fc.asyncProperty(names, integers, async (name, categoryId) => {
      const body = `{"name":${JSON.stringify(name)},"categoryId":${categoryId}}`;
      const { text, headers } = await store.create(body);
      expect(text.replace(/^\{"id":[0-9]+,/, '{')).toBe(body);
      const { pathname } = new URL(headers.get('location') ?? '');
      expect((await store.fetch(pathname)).text).toBe(text);
    }),
    { numRuns: 20 * REPEAT, examples: [['🐶'.repeat(255), max]] },
  );
});
