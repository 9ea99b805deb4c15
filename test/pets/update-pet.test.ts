import { describe, expect, test } from 'vitest';
import { addPet, updatePet } from '../orders/steps.ts';
import { startStore } from '../store.ts';

const store = startStore();

describe('only the fields in the patch change', () => {
  test.each([
    ['{"name":"Max"}', '"name":"Max","categoryId":3,"status":"available"'],
    [
      '{"categoryId":9007199254740993}',
      '"name":"Rex","categoryId":9007199254740993,"status":"available"',
    ],
    ['{"status":"sold"}', '"name":"Rex","categoryId":3,"status":"sold"'],
    ['{"status":null}', '"name":"Rex","categoryId":3'],
    ['{"name":"Max","status":"pending"}', '"name":"Max","categoryId":3,"status":"pending"'],
    [
      '{"categoryId":-9007199254740993,"status":null}',
      '"name":"Rex","categoryId":-9007199254740993',
    ],
    ['{"name":"Max","categoryId":4,"status":null}', '"name":"Max","categoryId":4'],
  ])('%s', async (patch, expected) => {
    const [other, petId] = [await addPet(store), await addPet(store)];
    const reply = await updatePet(store, petId, patch);
    expect([reply.status, reply.text]).toEqual([200, `{"id":${petId},${expected}}`]);
    expect(reply.headers.get('content-type')).toBe('application/json');
    expect((await store.fetch('/v1/pets')).text).toBe(
      `[{"id":${other},"name":"Rex","categoryId":3,"status":"available"},${reply.text}]`,
    );
  });

  test('the same patch again is a 200 with the same body', async () => {
    const petId = await addPet(store);
    const first = await updatePet(store, petId, { name: 'Max', status: null });
    const again = await updatePet(store, petId, { name: 'Max', status: null });
    expect([again.status, again.text]).toEqual([200, first.text]);
  });

  test.each(['application/merge-patch+json', 'Application/Merge-Patch+JSON; charset=utf-8'])(
    'the type may be %s',
    async (type) => {
      const petId = await addPet(store);
      const headers = { 'content-type': type };
      const patch = { status: null };
      const reply = await store.send('PATCH', `/v1/pets/${petId}`, patch, { headers });
      expect([reply.status, reply.body]).toEqual([200, { id: petId, name: 'Rex', categoryId: 3 }]);
    },
  );
});

test('the log has no field of a patch', async () => {
  await updatePet(store, await addPet(store), { name: 'SecretName' });
  expect(JSON.stringify(await store.logLines())).not.toContain('Secret');
});
