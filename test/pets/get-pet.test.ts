import { describe, expect, test } from 'vitest';
import { type Reply, startStore } from '../store.ts';

const store = startStore();

function expectDeprecated({ headers }: Reply): void {
  expect(headers.get('deprecation')).toBe('@1795132800');
  expect(headers.get('sunset')).toBe('Thu, 05 Dec 2030 00:00:00 GMT');
  expect(headers.get('link')).toMatch(
    /^<(http:\/\/[\d.:]+)\/v1\/pets>; rel="successor-version", <\1\/docs>; rel="deprecation"$/,
  );
}

test('returns the animal', async () => {
  const created = await store.create({ name: 'Rex', categoryId: 3, status: 'sold' });
  const reply = await store.fetch(`/v1/pets/${(created.body as { id: number }).id}`);
  expect(reply.status).toBe(200);
  expect(reply.headers.get('content-type')).toBe('application/json');
  expect(reply.text).toBe(created.text);
  expectDeprecated(reply);
});

test('distinguishes adjacent ids beyond 2^53', async () => {
  const { DB } = await store.bindings();
  for (const id of ['9007199254740992', '9007199254740993', '-9223372036854775808']) {
    await DB.prepare('INSERT INTO pets (id, name, category_id) VALUES (?1, ?1, ?1)').bind(id).run();
    const { text } = await store.fetch(`/v1/pets/${id}`);
    expect(text).toBe(`{"id":${id},"name":"${id}","categoryId":${id}}`);
  }
});

test.each(['1', '-1', '0', '-0', '007', '9223372036854775807', '-9223372036854775808'])(
  'the unknown id %s is a 404',
  async (petId) => {
    const reply = await store.fetch(`/v1/pets/${petId}`);
    expect(reply.status).toBe(404);
    expect(reply.body).toEqual({ code: 'pet_not_found', message: expect.any(String), status: 404 });
    expectDeprecated(reply);
  },
);

test.each([
  'abc',
  '1.5',
  '1e3',
  '0x10',
  '+1',
  '--1',
  '-',
  '%201',
  '1%0A',
  '%EF%BC%95',
  '1%2F2',
  '9223372036854775808',
  '-9223372036854775809',
  '9'.repeat(5000),
])('the id %s is a 400', async (petId) => {
  const reply = await store.fetch(`/v1/pets/${petId}`);
  expect(reply.body).toEqual({
    code: 'invalid_request',
    message: 'petId: must be an integer from -9223372036854775808 to 9223372036854775807',
    status: 400,
  });
  expect(reply.status).toBe(400);
  expectDeprecated(reply);
});

describe('marks every response as deprecated', () => {
  test('to an invalid query', async () => {
    const reply = await store.fetch('/v1/pets/1?limit=1');
    expect(reply.body).toMatchObject({ message: 'limit: is not a known parameter', status: 400 });
    expectDeprecated(reply);
  });

  test('to a missing key', async () => {
    const reply = await store.fetch('/v1/pets/1', { headers: { authorization: null } });
    expect(reply.status).toBe(401);
    expectDeprecated(reply);
  });

  test('to HEAD', async () => {
    expectDeprecated(await store.fetch('/v1/pets/1', { method: 'HEAD' }));
  });

  test('but no response of other operations', async () => {
    const { headers } = await store.fetch('/v1/pets');
    expect([headers.has('deprecation'), headers.has('sunset')]).toEqual([false, false]);
  });
});
