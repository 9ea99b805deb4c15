import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { addPet } from '../orders/steps.ts';
import { startStore } from '../store.ts';

const store = startStore();

const update = (petId: number | string, patch: unknown, contentType = 'application/json') =>
  store.send('PATCH', `/v1/pets/${petId}`, patch, { headers: { 'content-type': contentType } });

describe('only the fields in the patch change', () => {
  test.each([
    [{ name: 'Max' }, { name: 'Max', categoryId: 3, status: 'available' }],
    [{ categoryId: 4 }, { name: 'Rex', categoryId: 4, status: 'available' }],
    [{ status: 'sold' }, { name: 'Rex', categoryId: 3, status: 'sold' }],
    [{ status: null }, { name: 'Rex', categoryId: 3 }],
    [
      { name: 'Max', categoryId: 4 },
      { name: 'Max', categoryId: 4, status: 'available' },
    ],
    [
      { name: 'Max', status: 'sold' },
      { name: 'Max', categoryId: 3, status: 'sold' },
    ],
    [
      { name: 'Max', status: null },
      { name: 'Max', categoryId: 3 },
    ],
    [
      { categoryId: 4, status: 'sold' },
      { name: 'Rex', categoryId: 4, status: 'sold' },
    ],
    [
      { categoryId: 4, status: null },
      { name: 'Rex', categoryId: 4 },
    ],
    [
      { name: 'Max', categoryId: 4, status: 'sold' },
      { name: 'Max', categoryId: 4, status: 'sold' },
    ],
    [
      { name: 'Max', categoryId: 4, status: null },
      { name: 'Max', categoryId: 4 },
    ],
  ])('%j', async (patch, expected) => {
    const [other, petId] = [await addPet(store), await addPet(store)];
    const reply = await update(petId, patch);
    expect([reply.status, reply.body]).toEqual([200, { id: petId, ...expected }]);
    expect(reply.headers.get('content-type')).toBe('application/json');
    expect((await store.fetch(`/v1/pets/${petId}`)).text).toBe(reply.text);
    expect((await store.fetch(`/v1/pets/${other}`)).body).toEqual({
      id: other,
      ...{ name: 'Rex', categoryId: 3, status: 'available' },
    });
  });

  test('every status can be set after every other, and after none', async () => {
    const petId = await addPet(store, null);
    for (const status of ['pending', 'available', 'sold', 'pending', 'sold', 'available']) {
      expect((await update(petId, { status })).body).toMatchObject({ status });
      expect((await store.fetch(`/v1/pets?status=${status}`)).body).toMatchObject([{ id: petId }]);
    }
    await update(petId, { status: null });
    for (const status of ['pending', 'available', 'sold']) {
      expect((await store.fetch(`/v1/pets?status=${status}`)).text).toBe('[]');
    }
  });

  test('the same patch again is a 200 with the same body', async () => {
    const petId = await addPet(store);
    const first = await update(petId, { name: 'Max', status: null });
    const again = await update(petId, { name: 'Max', status: null });
    expect([again.status, again.text]).toEqual([200, first.text]);
  });

  test('application/merge-patch+json is accepted', async () => {
    const petId = await addPet(store);
    for (const type of [
      'application/merge-patch+json',
      'Application/Merge-Patch+JSON; charset=utf-8',
    ]) {
      const reply = await update(petId, { status: null }, type);
      expect([reply.status, reply.body]).toEqual([200, { id: petId, name: 'Rex', categoryId: 3 }]);
    }
  });
});

test('every int64 keeps its digits', async () => {
  const petId = await addPet(store);
  const categoryId = fc.oneof(
    fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
    fc.constantFrom(2n ** 63n - 1n, -(2n ** 63n - 1n), -(2n ** 63n), 2n ** 53n + 1n),
  );
  await fc.assert(
    fc.asyncProperty(categoryId, async (value) => {
      const reply = await update(petId, `{"categoryId":${value}}`);
      expect(reply.text).toContain(`"categoryId":${value},`);
      expect((await store.fetch(`/v1/pets/${petId}`)).text).toBe(reply.text);
    }),
    { numRuns: 30 },
  );
});

test('adjacent ids beyond 2^53 are distinct', async () => {
  const { DB } = await store.bindings();
  const ids = ['9007199254740992', '9007199254740993', '-9223372036854775808'];
  for (const id of ids) {
    await DB.prepare("INSERT INTO pets (id, name, category_id) VALUES (?1, 'Rex', 1)")
      .bind(id)
      .run();
  }
  for (const id of ids) {
    expect((await update(id, { name: id })).text).toBe(
      `{"id":${id},"name":"${id}","categoryId":1}`,
    );
    expect((await store.fetch(`/v1/pets/${id}`)).body).toMatchObject({ name: id });
  }
});

test.each(['77', '0', '-1', '9223372036854775807'])('the unknown id %s is a 404', async (petId) => {
  for (const patch of [{ name: 'Max' }, { status: 'sold' }, { status: null }]) {
    expect((await update(petId, patch)).body).toEqual({
      code: 'pet_not_found',
      message: `There is no animal with the id ${petId}.`,
      status: 404,
    });
  }
});

test.each(['abc', '1.5', '9223372036854775808', '%201'])('the id %s is a 400', async (petId) => {
  expect((await update(petId, { name: 'Max' })).body).toEqual({
    code: 'invalid_request',
    message: 'petId: must be an integer from -9223372036854775808 to 9223372036854775807',
    status: 400,
  });
});

test('the log has no field of a patch', async () => {
  await update(await addPet(store), { name: 'SecretName' });
  expect(JSON.stringify(await store.logLines())).not.toContain('Secret');
});
