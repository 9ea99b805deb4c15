import { expect, test, vi } from 'vitest';
import { unstable_readConfig as readConfig } from 'wrangler';
import { smokeTest } from '../ops/smoke.ts';
import packageJson from '../package.json' with { type: 'json' };
import packageLock from '../package-lock.json' with { type: 'json' };
import { STATUS_OF } from '../src/errors.ts';
import { description, operations, operationsWithout } from './contract.ts';
import { startStore } from './store.ts';

const store = startStore();

const baseUrlOf = (env: string) => readConfig({ config: 'wrangler.toml', env }).vars.BASE_URL;

test('the description is served without a key, with an ETag, to any origin', async () => {
  const url = `${store.url()}/v1/openapi.json`;
  const reply = await fetch(url, { headers: { origin: 'https://shop.example' } });
  expect(reply.headers.get('content-type')).toBe('application/json');
  expect(reply.headers.get('access-control-allow-origin')).toBe('*');
  expect(await reply.json()).toEqual(description);
  const again = await fetch(url, { headers: { 'if-none-match': reply.headers.get('etag') ?? '' } });
  expect(again.status).toBe(304);
});

test('the description, the package and its lock file have the version 1.0.0', () => {
  const { version, packages } = packageLock;
  for (const each of [version, packages[''].version, packageJson.version])
    expect(each).toBe('1.0.0');
  expect(description).toMatchObject({ info: { version: '1.0.0' } });
});

test('the description has the names of the service interface', () => {
  expect(description).toMatchObject({
    openapi: expect.stringMatching(/^3\.1\./),
    servers: [
      { url: baseUrlOf('production') },
      { url: baseUrlOf('staging') },
      { url: 'http://localhost:8787/v1' },
    ],
    tags: [{ name: 'animals' }, { name: 'Pets' }, { name: 'Store' }, { name: 'service' }],
    components: {
      securitySchemes: { apiKey: { type: 'http', scheme: 'bearer' } },
      schemas: {
        Pet: { properties: { id: { type: 'integer', format: 'int64' } } },
        NewPet: {
          required: ['name', 'categoryId'],
          properties: { name: { minLength: 1, maxLength: 255 } },
        },
        Pets: { type: 'array' },
        PetStatus: { enum: ['available', 'pending', 'sold'] },
        Error: { required: ['code', 'message', 'status'] },
      },
    },
  });
});

test('the description has the operations of the contract', () => {
  const shapes = operations.map(({ method, path, operation }) => {
    const { operationId, tags, 'x-stability': stability = 'stable' } = operation;
    return `${operationId}: ${method} ${path}, ${tags.join()}, ${stability}`;
  });
  expect(shapes).toEqual([
    'listPets: GET /v1/pets, animals, stable',
    'createPet: POST /v1/pets, animals, stable',
    'getPet: GET /v1/pets/{petId}, animals, stable',
    'updatePet: PATCH /v1/pets/{petId}, Pets, beta',
    'deletePet: DELETE /v1/pets/{petId}, Pets, beta',
    'listOrders: GET /v1/store/orders, Store, experimental',
    'placeOrder: POST /v1/store/orders, Store, experimental',
    'getOrder: GET /v1/store/orders/{orderId}, Store, experimental',
    'updateOrder: PATCH /v1/store/orders/{orderId}, Store, experimental',
    'getHealth: GET /v1/health, service, stable',
  ]);
  const [listPets, , getPet] = operations;
  const limit = { type: 'integer', format: 'int32', minimum: 1, maximum: 100, default: 20 };
  expect(listPets?.operation.parameters?.[0]).toMatchObject({ name: 'limit', schema: limit });
  expect(getPet?.operation).toMatchObject({ deprecated: true, 'x-sunset': '2030-12-05' });
});

test('there is an example of an error for each code, with its status', () => {
  const codes = Object.entries(STATUS_OF).map(([code, status]) => ({ code, status }));
  expect(description.components.schemas.Error?.examples).toMatchObject(codes);
});

test('every string and number of a parameter, a header or a field is bounded', () => {
  const { schemas, headers, parameters } = description.components;
  const all = [
    ...Object.values(schemas).flatMap(({ properties = {} }) => Object.values(properties)),
    ...Object.values(headers).map(({ schema }) => schema),
    ...Object.values(parameters).map(({ schema }) => schema),
    ...operations.flatMap(({ operation }) => operation.parameters ?? []).map((each) => each.schema),
  ];
  const strings = all.filter((schema) => schema.type === 'string' && !schema.enum);
  const numbers = all.filter((schema) => schema.type === 'integer');
  expect(strings.filter(({ maxLength }) => maxLength === undefined)).toEqual([]);
  expect(numbers.filter(({ format, minimum }) => !format || minimum === undefined)).toEqual([]);
});

test('health returns the environment and the version, without a key and without D1', async () => {
  const reply = await store.fetch('/health', { headers: { authorization: null } });
  expect(reply.body).toEqual({
    status: 'ok',
    environment: 'local',
    version: expect.stringMatching(/^[0-9a-f-]{36}$/),
  });
  expect((await store.logLines())[0]).not.toHaveProperty('d1Ms');
});

test('the smoke test requests every operation of the description', async () => {
  const spy = vi.spyOn(globalThis, 'fetch');
  const baseUrl = `${store.url()}/v1`;
  await smokeTest({ environment: 'local', baseUrl, apiKey: await store.issueKey() });
  const sent = spy.mock.calls.map(([url, init]) => `${init?.method} ${new URL(`${url}`).pathname}`);
  spy.mockRestore();
  expect(operationsWithout(sent)).toEqual([]);
});
