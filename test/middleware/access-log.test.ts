import { expect, test } from 'vitest';
import { startStore } from '../store.ts';

const store = startStore();

test('each request writes one line with the fields for operators', async () => {
  // A new key, so that its record is read from KV.
  const authorization = `Bearer ${await store.issueKey({ id: 'one' })}`;
  const reply = await store.create(
    { name: 'Rex', categoryId: 1 },
    { headers: { authorization, 'cf-ray': '8f1c0d2e3a4b5c6d-FRA' } },
  );
  expect(await store.logLines()).toEqual([
    {
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      requestId: reply.headers.get('x-request-id'),
      environment: 'local',
      method: 'POST',
      operation: 'createPet',
      route: '/v1/pets',
      status: 201,
      durationMs: expect.any(Number),
      d1Ms: expect.any(Number),
      d1Attempts: 1,
      kvMs: expect.any(Number),
      keyId: 'one',
      ray: '8f1c0d2e3a4b5c6d-FRA',
      colo: expect.any(String),
      country: expect.any(String),
    },
  ]);
});

test.each([
  [
    'GET',
    '/v1/pets?limit=0',
    { route: '/v1/pets', status: 400, code: 'invalid_request', keyId: 'suite' },
  ],
  ['HEAD', '/v1/pets', { route: '/v1/pets', status: 200, method: 'HEAD' }],
  [
    'GET',
    '/v1/pets/77',
    { route: '/v1/pets/:petId', status: 404, code: 'pet_not_found', deprecated: true },
  ],
  ['GET', '/v1/nothing', { status: 404, code: 'not_found' }],
  ['PUT', '/v1/pets', { status: 405, code: 'method_not_allowed' }],
  ['OPTIONS', '/v1/pets', { status: 204, method: 'OPTIONS' }],
])('%s %s', async (method, path, expected) => {
  await store.fetch(path, { method });
  expect(await store.logLines()).toEqual([expect.objectContaining(expected)]);
});

test.each([
  ['listPets', 'GET', '/v1/pets', '/v1/pets', 200],
  ['createPet', 'POST', '/v1/pets', '/v1/pets', 415],
  ['getPet', 'GET', '/v1/pets/77', '/v1/pets/:petId', 404],
  ['updatePet', 'PATCH', '/v1/pets/77', '/v1/pets/:petId', 415],
  ['deletePet', 'DELETE', '/v1/pets/77', '/v1/pets/:petId', 404],
  ['listOrders', 'GET', '/v1/store/orders', '/v1/store/orders', 200],
  ['placeOrder', 'POST', '/v1/store/orders', '/v1/store/orders', 415],
  ['getOrder', 'GET', '/v1/store/orders/77', '/v1/store/orders/:orderId', 404],
  ['updateOrder', 'PATCH', '/v1/store/orders/77', '/v1/store/orders/:orderId', 415],
])(
  'the line has the operation %s, with and without a key',
  async (operation, method, path, route, status) => {
    await store.fetch(path, { method });
    await store.fetch(path, { method, headers: { authorization: null } });
    const line = { operation, method, route };
    expect(await store.logLines()).toMatchObject([
      { ...line, status, keyId: 'suite' },
      { ...line, status: 401, code: 'missing_api_key' },
    ]);
  },
);

test.each([
  ['GET', '/v1/nothing'],
  ['PUT', '/v1/store/orders'],
  ['OPTIONS', '/v1/store/orders'],
  ['GET', '/health'],
])('%s %s has no operation', async (method, path) => {
  await store.fetch(path, { method });
  expect((await store.logLines())[0]).not.toHaveProperty('operation');
});

test('only a deprecated operation is marked', async () => {
  await store.fetch('/v1/pets');
  expect((await store.logLines())[0]).not.toHaveProperty('deprecated');
});

test('no line contains a key, path, query, body or name', async () => {
  const key = await store.issueKey();
  const headers = { authorization: `Bearer ${key}` };
  await store.create({ name: 'SecretName', categoryId: 123454321 }, { headers });
  await store.create(
    { name: 'SecretName', categoryId: 'SecretValue', SecretField: 1 },
    { headers },
  );
  await store.create('{"name":"SecretName",', { headers });
  await store.fetch('/v1/pets/SecretPath?SecretQuery=1', { headers });
  await store.fetch('/SecretPath/123454321', { headers });
  await store.fetch('/v1/pets', {
    headers: { authorization: `Bearer ${key}x`, 'cf-ray': 'SecretRay', 'x-request-id': 'SecretId' },
  });
  const lines = await store.logLines();
  expect(lines).toHaveLength(6);
  const log = JSON.stringify(lines);
  expect(log).not.toMatch(/Secret|123454321/);
  expect(log).not.toContain(key.slice('animal_local_'.length));
});
