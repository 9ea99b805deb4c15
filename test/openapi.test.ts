import { expect, test, vi } from 'vitest';
import { unstable_readConfig as readConfig } from 'wrangler';
import { smokeTest } from '../ops/smoke.ts';
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

test('the description has the names of the service interface', () => {
  expect(description).toMatchObject({
    openapi: expect.stringMatching(/^3\.1\./),
    info: { version: '1.0.0' },
    security: [{ apiKey: [] }],
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
        PetPatch: { minProperties: 1 },
        Pets: { type: 'array', maxItems: 100 },
        PetStatus: { enum: ['available', 'pending', 'sold'] },
        Error: { required: ['code', 'message', 'status'] },
      },
    },
  });
});

/** Of every operation that needs a key. */
const COMMON = '400 401 403 429 500 503';

test.each<[operation: string, about: string, parameters: string, responses: string]>([
  ['listPets', 'GET /v1/pets animals', 'limit? status? after?', '200'],
  ['createPet', 'POST /v1/pets animals', 'Idempotency-Key?', '201 413 415 422'],
  ['getPet', 'GET /v1/pets/{petId} animals', 'petId', '200 404'],
  ['updatePet', 'PATCH /v1/pets/{petId} Pets beta', 'petId', '200 404 409 413 415'],
  ['deletePet', 'DELETE /v1/pets/{petId} Pets beta', 'petId', '204 404 409'],
  ['listOrders', 'GET /v1/store/orders Store experimental', 'limit? status? after?', '200'],
  [
    'placeOrder',
    'POST /v1/store/orders Store experimental',
    'Idempotency-Key?',
    '201 404 409 413 415 422',
  ],
  ['getOrder', 'GET /v1/store/orders/{orderId} Store experimental', 'orderId', '200 404'],
  [
    'updateOrder',
    'PATCH /v1/store/orders/{orderId} Store experimental',
    'orderId',
    '200 404 409 413 415',
  ],
])(
  'the description of %s has its path, parameters and responses',
  (id, about, parameters, responses) => {
    const found = operations.find(({ operation }) => operation.operationId === id);
    const operation = found?.operation;
    const { tags = [], 'x-stability': stability = [] } = operation ?? {};
    expect([`${found?.method} ${found?.path}`, tags, stability].flat().join(' ')).toBe(about);
    const names = operation?.parameters?.map(({ name, required }) => name + (required ? '' : '?'));
    expect(names?.sort().join(' ')).toBe(
      `X-D1-Bookmark? ${parameters}`.split(' ').sort().join(' '),
    );
    const statuses = `${responses} ${COMMON}`.split(' ').sort();
    expect(Object.keys(operation?.responses ?? {}).sort()).toEqual(statuses);
    const hasBody = responses.includes('415');
    expect(operation?.requestBody?.required).toBe(hasBody || undefined);
  },
);

test('the description has no other operations than these and getHealth', () => {
  expect(operations).toHaveLength(10);
  expect(operations.at(-1)?.operation).toMatchObject({ operationId: 'getHealth', security: [] });
});

test('the description says when getPet ends, and the limits of a page', () => {
  const [listPets, , getPet] = operations;
  const limit = { type: 'integer', format: 'int32', minimum: 1, maximum: 100, default: 20 };
  const schemas = listPets?.operation.parameters?.map(({ name, schema }) => [name, schema]);
  expect(Object.fromEntries(schemas ?? [])).toMatchObject({ limit, after: { format: 'int64' } });
  const day = '2030-12-05';
  const sunset = { deprecated: true, 'x-sunset': day, 'x-deprecated-sunset': day };
  expect(getPet?.operation).toMatchObject(sunset);
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
  expect(
    numbers.filter(
      ({ format, minimum, maximum }) => !format || minimum === undefined || maximum === undefined,
    ),
  ).toEqual([]);
});

test('health returns the environment and the version without a key', async () => {
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
