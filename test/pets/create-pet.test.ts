/** createPet: what may be sent, and is stored exactly. */
import { expect, test, vi } from 'vitest';
import { generateKey } from '../../ops/keys/generate-key.ts';
import { MAX_NAME_LENGTH } from '../../src/pets/schemas.ts';
import { startStore } from '../support/store.ts';
import { sendInProcess, stubBindings } from '../support/stubs.ts';

const store = startStore();

test('a body may have a byte order mark and white space', async () => {
  const reply = await store.createPet('\ufeff \r\n{ "name" : "Rex" ,\t"categoryId" : 3 } \n');
  expect(reply.body).toEqual({ id: 1, name: 'Rex', categoryId: 3 });
});

test.each([
  { name: '"\\/<>&', categoryId: -(2n ** 63n) },
  { name: ' a\u200b\u2028\ufeff ', categoryId: 2n ** 63n - 1n },
  { name: 'Ame\u0301lie, nicht Am\u00e9lie', categoryId: 2n ** 53n + 1n },
  { name: '🐶'.repeat(MAX_NAME_LENGTH), categoryId: 0n },
])('the name $name and the category $categoryId are stored exactly', async (pet) => {
  const name = JSON.stringify(pet.name);
  const { text } = await store.createPet(`{"name":${name},"categoryId":${pet.categoryId}}`);
  expect(text).toBe(`{"id":1,"name":${name},"categoryId":${pet.categoryId}}`);
  expect((await store.fetch('/v1/pets/1')).text).toBe(text);
});

test('a create without an idempotency key is one statement outside a batch', async () => {
  vi.spyOn(console, 'log').mockReturnValueOnce();
  const bindings = stubBindings();
  const batch = vi.spyOn(bindings.DB, 'batch');
  const create = { method: 'POST', path: '/v1/pets', body: '{"name":"Rex","categoryId":3}' };
  const { status } = await sendInProcess(create, bindings, generateKey('production'));
  expect(status).toBe(201);
  expect(batch).not.toHaveBeenCalled();
});
