import { expect, test } from 'vitest';
import { unstable_readConfig as readConfig } from 'wrangler';
import packageJson from '../package.json' with { type: 'json' };
import { STATUS_OF } from '../src/errors.ts';
import { description, operations, problems } from './contract.ts';
import { startStore } from './store.ts';

const store = startStore();

const baseUrlOf = (env: string) => readConfig({ config: 'wrangler.toml', env }).vars.BASE_URL;

type ErrorBody = { code: keyof typeof STATUS_OF; message: string; status: number };

test('the description is served without a key, with an ETag, to any origin', async () => {
  const headers = { authorization: null, origin: 'https://shop.example' };
  const reply = await store.fetch('/v1/openapi.json', { headers });
  expect(reply.status).toBe(200);
  expect(reply.headers.get('content-type')).toBe('application/json');
  expect(reply.headers.get('access-control-allow-origin')).toBe('*');
  expect(reply.body).toEqual(description);
  const etag = reply.headers.get('etag') ?? '';
  expect(etag).toMatch(/^(W\/)?".+"$/);
  const again = await store.fetch('/v1/openapi.json', {
    headers: { ...headers, 'if-none-match': etag },
  });
  expect([again.status, again.text]).toEqual([304, '']);
});

test('the description has the names of the service interface', () => {
  const whole = JSON.parse(JSON.stringify(description)) as Record<string, never>;
  expect(whole).toMatchObject({
    openapi: expect.stringMatching(/^3\.1\./),
    info: { version: packageJson.version },
    servers: [
      { url: baseUrlOf('production') },
      { url: baseUrlOf('staging') },
      { url: 'http://localhost:8787/v1' },
    ],
    tags: expect.arrayContaining(
      ['animals', 'Store', 'Pets'].map((name) => expect.objectContaining({ name })),
    ),
    components: { securitySchemes: { apiKey: { type: 'http', scheme: 'bearer' } } },
  });
  const { schemas } = description.components;
  expect(Object.keys(schemas)).toEqual(
    expect.arrayContaining(['Pet', 'NewPet', 'Pets', 'PetStatus', 'Error']),
  );
  expect(schemas.PetStatus?.enum).toEqual(['available', 'pending', 'sold']);
  expect(schemas.Pet?.properties?.id).toMatchObject({ type: 'integer', format: 'int64' });
  expect(schemas.NewPet?.required).toEqual(['name', 'categoryId']);
  const byId = new Map(operations.map(({ operation }) => [operation.operationId, operation]));
  for (const id of ['listPets', 'createPet', 'getPet']) {
    expect(byId.get(id)).toMatchObject({ tags: ['animals'] });
  }
  expect(byId.get('getPet')).toMatchObject({
    deprecated: true,
    'x-sunset': '2030-12-05',
    'x-deprecated-sunset': '2030-12-05',
  });
});

/** The examples of each JSON body in requests and responses, and the path of its schema in the document. */
const bodies = Object.entries(description.paths).flatMap(([path, item]) =>
  Object.entries(item).flatMap(([method, { requestBody, responses }]) => {
    const all = Object.entries(responses).map(([status, response]) => ({
      pointer: ['paths', path, method, 'responses', status],
      content: response.content,
    }));
    const request = {
      pointer: ['paths', path, method, 'requestBody'],
      content: requestBody?.content,
    };
    return [request, ...all].flatMap(({ pointer, content }) =>
      Object.entries(content ?? {}).map(([type, { example, examples = {} }]) => ({
        pointer: [...pointer, 'content', type, 'schema'],
        examples: [example, ...Object.values(examples).map(({ value }) => value)].filter(
          (each) => each !== undefined,
        ),
      })),
    );
  }),
);

test('every body has examples, and they match its schema', () => {
  expect(bodies.length).toBeGreaterThan(50);
  for (const { pointer, examples } of bodies) {
    expect(examples, pointer.join(' ')).not.toEqual([]);
    for (const example of examples) expect(problems(pointer, example)).toEqual([]);
  }
});

test('every example of an error has the status of its code and of its response', () => {
  const errors = bodies.flatMap(({ pointer: [, , , , status], examples }) =>
    examples
      .filter((example): example is ErrorBody => Object.hasOwn(example as object, 'code'))
      .map((example) => ({ example, status })),
  );
  expect(errors.length).toBeGreaterThan(50);
  for (const { example, status } of errors) {
    expect(example.status).toBe(STATUS_OF[example.code]);
    expect(String(example.status)).toBe(status);
  }
});

test('every header has an example, and it matches its schema', () => {
  for (const [name, { example }] of Object.entries(description.components.headers)) {
    expect(problems(['components', 'headers', name, 'schema'], example)).toEqual([]);
  }
});

test('the schema of errors has an example for each code', () => {
  const { examples } = description.components.schemas.Error as { examples?: ErrorBody[] };
  expect(examples?.map(({ code }) => code)).toEqual(Object.keys(STATUS_OF));
});

test('the description of each operation has its parameters, and whether it needs a key and a body', () => {
  const shapes = operations.map(({ operation }) => [
    operation.operationId,
    {
      key: operation.security === undefined,
      body: operation.requestBody?.required,
      parameters: operation.parameters?.map(
        ({ name, required, schema: { description: _, ...schema } }) => ({
          name,
          ...(required && { required }),
          ...schema,
        }),
      ),
    },
  ]);
  const bookmark = {
    name: 'X-D1-Bookmark',
    type: 'string',
    pattern: '^[A-Za-z0-9_.~+/=:-]{1,256}$',
    minLength: 1,
    maxLength: 256,
  };
  const idempotencyKey = {
    name: 'Idempotency-Key',
    type: 'string',
    minLength: 1,
    maxLength: 257,
    pattern: '^("[ -~]{1,255}"|[ -~]{1,255})$',
  };
  const list = (status: string) => [
    { name: 'limit', type: 'integer', format: 'int32', minimum: 1, maximum: 100, default: 20 },
    { name: 'status', $ref: `#/components/schemas/${status}` },
    { name: 'cursor', type: 'string', pattern: '^[A-Za-z0-9_-]+$', minLength: 1, maxLength: 256 },
    bookmark,
  ];
  const id = (name: string) => ({
    ...{ name, required: true, type: 'integer', format: 'int64' },
    ...{ minimum: -(2 ** 63), maximum: 2 ** 63 },
  });
  const body = { key: true, body: true };
  expect(Object.fromEntries(shapes)).toMatchObject({
    listPets: { key: true, parameters: list('PetStatus') },
    createPet: { ...body, parameters: [idempotencyKey, bookmark] },
    getPet: { key: true, parameters: [id('petId'), bookmark] },
    updatePet: { ...body, parameters: [id('petId'), bookmark] },
    deletePet: { key: true, parameters: [id('petId'), bookmark] },
    listOrders: { key: true, parameters: list('OrderStatus') },
    placeOrder: { ...body, parameters: [idempotencyKey, bookmark] },
    getOrder: { key: true, parameters: [id('orderId'), bookmark] },
    updateOrder: { ...body, parameters: [id('orderId'), bookmark] },
    getHealth: { key: false },
  });
});

test('the service requires a key for the operations that describe one, and for no others', async () => {
  for (const { method, path, operation } of operations) {
    const headers = { authorization: null };
    const { status } = await store.fetch(path.replace(/\{\w+\}/, '1'), { method, headers });
    expect(status === 401, operation.operationId).toBe(operation.security === undefined);
  }
});

test('health returns the environment and the version, without a key and without calling D1', async () => {
  const reply = await store.fetch('/health', { headers: { authorization: null } });
  expect(reply.status).toBe(200);
  expect(reply.headers.get('cache-control')).toBe('no-store');
  expect(reply.body).toEqual({
    status: 'ok',
    environment: 'local',
    version: expect.stringMatching(/^[0-9a-f-]{36}$/),
  });
  expect((await store.logLines())[0]).not.toHaveProperty('d1Ms');
});
