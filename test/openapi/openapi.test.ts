import { expect, test } from 'vitest';
import { unstable_readConfig as readConfig } from 'wrangler';
import packageJson from '../../package.json' with { type: 'json' };
import { STATUS_OF } from '../../src/errors.ts';
import { LIMIT } from '../../src/http/paging.ts';
import { changes, description, lists, operations, unavailableOf } from '../support/contract.ts';

const baseUrlOf = (env: string) => readConfig({ config: 'wrangler.toml', env }).vars.BASE_URL;

test('the description has the names and limits of the service interface', () => {
  const day = '2030-12-05';
  expect(description).toMatchObject({
    // Some tools know no later patch version.
    openapi: '3.1.0',
    info: { version: packageJson.version },
    security: [{ apiKey: [] }],
    servers: [
      { url: baseUrlOf('production'), 'x-internal': false },
      { url: baseUrlOf('staging'), 'x-internal': true },
      { url: 'http://localhost:8787/v1', 'x-internal': true },
    ],
    paths: {
      '/pets/{petId}': {
        get: { deprecated: true, 'x-sunset': day, 'x-deprecated-sunset': day },
      },
      '/health': { get: { security: [] } },
    },
    components: {
      securitySchemes: { apiKey: { type: 'http', scheme: 'bearer' } },
      schemas: {
        Error: {
          required: ['code', 'message', 'status'],
          properties: { code: { enum: Object.keys(STATUS_OF) } },
        },
      },
    },
  });
});

/** Further filters of a list are compatible. */
const QUERY_OF_CONTRACT = ['after', 'limit', 'status'];

test('the description has the operations of the contract', () => {
  const lines = operations.map(({ method, path, operation }) => {
    const { operationId, tags, 'x-stability': stability = 'stable', requestBody } = operation;
    const optional = ({ required }: { required?: boolean }) => (required ? '' : '?');
    const ofContract = operation.parameters?.filter(
      (each) => each.in !== 'query' || each.required || QUERY_OF_CONTRACT.includes(each.name),
    );
    const parameters = ofContract?.map((each) => each.name + optional(each)).sort() ?? [];
    if (requestBody) parameters.push(`body${optional(requestBody)}`);
    const about = [operationId, tags, stability, parameters].flat().join(' ');
    return `${method} ${path}: ${about}: ${Object.keys(operation.responses).join(' ')}`;
  });
  const contract = [
    'GET /v1/pets: listPets animals stable X-D1-Bookmark? after? limit? status?: 200 400 401 403 429 500 503',
    'POST /v1/pets: createPet animals stable Idempotency-Key? X-D1-Bookmark? body: 201 400 401 403 413 415 422 429 500 503',
    'GET /v1/pets/{petId}: getPet animals stable X-D1-Bookmark? petId: 200 400 401 403 404 429 500 503',
    'PATCH /v1/pets/{petId}: updatePet Pets beta X-D1-Bookmark? petId body: 200 400 401 403 404 409 413 415 429 500 503',
    'DELETE /v1/pets/{petId}: deletePet Pets beta X-D1-Bookmark? petId: 204 400 401 403 404 409 429 500 503',
    'GET /v1/store/orders: listOrders Store experimental X-D1-Bookmark? after? limit? status?: 200 400 401 403 429 500 503',
    'POST /v1/store/orders: placeOrder Store experimental Idempotency-Key? X-D1-Bookmark? body: 201 400 401 403 404 409 413 415 422 429 500 503',
    'GET /v1/store/orders/{orderId}: getOrder Store experimental X-D1-Bookmark? orderId: 200 400 401 403 404 429 500 503',
    'PATCH /v1/store/orders/{orderId}: updateOrder Store experimental X-D1-Bookmark? orderId body: 200 400 401 403 404 409 413 415 429 500 503',
    'GET /v1/health: getHealth service stable: 200 400 403 500',
  ];
  expect(lines).toEqual(expect.arrayContaining(contract));
});

test.each(lists)('$operationId has a limit, and a place to begin', ({ parameters, operation }) => {
  const schemas = Object.fromEntries(parameters.map(({ name, schema }) => [name, schema]));
  expect(schemas).toMatchObject({
    limit: { type: 'integer', format: 'int32', ...LIMIT },
    after: { format: 'int64' },
  });
  expect(operation.responses[200]?.content).toMatchObject({
    'application/json': { schema: { type: 'array', maxItems: LIMIT.maximum } },
  });
});

/**
 * An integer also needs a format, by which clients choose its type. The format int64 is the bound: tools in JavaScript would round
 * the range to numbers beyond int64.
 */
function isBounded(schema: object) {
  const { type, format }: { type?: string; format?: string } = schema;
  if (type === 'string') return ['enum', 'const', 'maxLength'].some((rule) => rule in schema);
  if (type !== 'integer') return true;
  const bounds = ['minimum', 'maximum'].filter((rule) => rule in schema);
  return bounds.length === (format === 'int64' ? 0 : 2);
}

/** An object of the description, and all objects in it. Some of them are schemas. */
function objectsIn(value: unknown): object[] {
  if (typeof value !== 'object' || value === null) return [];
  return [value, ...Object.values(value).flatMap(objectsIn)];
}

test('the bodies of requests are closed, and clients accept fields that responses get later', () => {
  const bodies = operations.flatMap(({ operation }) => {
    return operation.requestBody?.content['application/json'].schema ?? [];
  });
  const closed = objectsIn(description).filter(
    (schema) => 'additionalProperties' in schema && schema.additionalProperties === false,
  );
  expect(new Set(closed)).toEqual(new Set(bodies));
});

test('every parameter of a path has an example', () => {
  const ofPaths = operations.flatMap(({ parameters }) =>
    parameters.filter((each) => each.in === 'path'),
  );
  expect(ofPaths.length).toBeGreaterThan(4);
  expect(ofPaths.filter((parameter) => !('example' in parameter))).toEqual([]);
});

// A mock server sends the first example of the schema with every status.
test('each response of an error has examples of its own status, and the schema Error has none', () => {
  expect(description.components.schemas?.Error).not.toHaveProperty('examples');
  for (const { operation } of operations)
    for (const [status, { content }] of Object.entries(operation.responses))
      for (const { value } of Object.values(content?.['application/json'].examples ?? {}))
        expect(value, operation.operationId).toMatchObject({ status: Number(status) });
});

/** Syntax that not all of Go, Rust, Java, Python and JavaScript have, or have without the flag `u`. */
const NOT_PORTABLE = /\\u|\\p|\\[dDwWbBAzZ]|\(\?/;

test('the patterns are in the part of regular expressions that all languages share', () => {
  const patterns = objectsIn(description).flatMap((schema) =>
    'pattern' in schema ? [String(schema.pattern)] : [],
  );
  expect(patterns.length).toBeGreaterThan(8);
  expect(patterns.filter((pattern) => NOT_PORTABLE.test(pattern))).toEqual([]);
});

test('every string and integer of the description is bounded', () => {
  const unbounded = objectsIn(description).filter((schema) => !isBounded(schema));
  expect(unbounded).toEqual([]);
});

test('the 503 of a change says what is unknown, and whether a retry is safe', () => {
  const messages = changes.map((change) => [change.operationId, unavailableOf(change)]);
  const start = 'The database did not respond. It is unknown whether';
  expect(Object.fromEntries(messages)).toMatchObject({
    updatePet: `${start} the animal was changed. Check before you retry: the same change could overwrite a later one of another client.`,
    deletePet: `${start} the animal was deleted. A retry is safe: 404 means that the animal is deleted.`,
    updateOrder: `${start} the order was changed. A retry is safe: setting the current status again changes nothing.`,
  });
});
