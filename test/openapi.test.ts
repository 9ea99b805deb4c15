import { expect, test } from 'vitest';
import { readTarget } from '../ops/release/target.ts';
import packageJson from '../package.json' with { type: 'json' };
import { STATUS_OF } from '../src/errors.ts';
import { description, operations, problems } from './contract.ts';
import { startStore } from './store.ts';

const store = startStore();

test('is served without a key, with an ETag, to any origin', async () => {
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

test('names what the interface names', () => {
  const whole = JSON.parse(JSON.stringify(description)) as Record<string, never>;
  expect(whole).toMatchObject({
    openapi: expect.stringMatching(/^3\.1\./),
    info: { version: packageJson.version },
    servers: [
      { url: readTarget('production').baseUrl },
      { url: readTarget('staging').baseUrl },
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

test('has a valid example for every request, response and header, and for each code of an error', () => {
  const codes = new Set<unknown>();
  for (const [path, item] of Object.entries(description.paths)) {
    for (const [method, operation] of Object.entries(item)) {
      const bodies = Object.entries(operation.responses).map(([status, response]) => ({
        pointer: ['paths', path, method, 'responses', status],
        response,
      }));
      for (const { pointer, response } of bodies) {
        if (!response.content) continue;
        const content = response.content['application/json'];
        const named = Object.values(content?.examples ?? {}).map(({ value }) => value);
        const examples = content?.example === undefined ? named : [content.example, ...named];
        expect(examples.length, pointer.join(' ')).toBeGreaterThan(0);
        for (const example of examples) {
          expect(problems([...pointer, 'content', 'application/json', 'schema'], example)).toEqual(
            [],
          );
          const { code, status } = example as { code?: keyof typeof STATUS_OF; status?: unknown };
          if (!code) continue;
          codes.add(code);
          expect([STATUS_OF[code], String(status)]).toEqual([status, pointer.at(-1)]);
        }
      }
      const request = operation.requestBody?.content['application/json'];
      for (const { value } of Object.values(request?.examples ?? {})) {
        const pointer = [
          'paths',
          path,
          method,
          'requestBody',
          'content',
          'application/json',
          'schema',
        ];
        expect(problems(pointer, value)).toEqual([]);
      }
    }
  }
  for (const [name, { example }] of Object.entries(description.components.headers)) {
    expect(problems(['components', 'headers', name, 'schema'], example)).toEqual([]);
  }
  const { examples } = description.components.schemas.Error as { examples?: { code: string }[] };
  expect(examples?.map(({ code }) => code)).toEqual(Object.keys(STATUS_OF));
});

test('says of each parameter and body what the service asks for', () => {
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

test('asks for a key where the service does', async () => {
  for (const { method, path, operation } of operations) {
    const headers = { authorization: null };
    const { status } = await store.fetch(path.replace(/\{\w+\}/, '1'), { method, headers });
    expect(status === 401, operation.operationId).toBe(operation.security === undefined);
  }
});

test('health tells environment and version, without a key and without looking at anything', async () => {
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
