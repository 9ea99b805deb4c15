/** The description has what the service interface promises, and rules that hold for all of it. */
import { expect, test } from 'vitest';
import { unstable_readConfig as readConfig } from 'wrangler';
import packageJson from '../../package.json' with { type: 'json' };
import { STATUS_OF } from '../../src/errors.ts';
import { MAX_BODY_BYTES } from '../../src/http/body.ts';
import { LIMIT } from '../../src/http/paging.ts';
import { description, operations, problems, text } from '../support/contract.ts';

const baseUrlOf = (env: string) => readConfig({ config: 'wrangler.toml', env }).vars.BASE_URL;

test('the description has the names and limits of the service interface', () => {
  const day = '2030-12-05';
  // Of the table of codes.
  expect(description.info.description).toContain('`order_not_found`');
  expect(description).toMatchObject({
    // Some tools know no later patch version.
    openapi: '3.1.0',
    info: {
      version: packageJson.version,
      description: expect.stringContaining(`${baseUrlOf('production')}/pets`),
      contact: { url: new URL('/docs', baseUrlOf('production')).href },
    },
    security: [{ apiKey: [] }],
    servers: [
      { url: baseUrlOf('production'), 'x-internal': false },
      { url: baseUrlOf('staging'), 'x-internal': true },
      { url: 'http://localhost:8787/v1', 'x-internal': true },
    ],
    paths: {
      '/pets': {
        post: {
          requestBody: { description: expect.stringContaining(`${MAX_BODY_BYTES / 1024} KiB`) },
        },
      },
      '/pets/{petId}': {
        get: {
          deprecated: true,
          'x-sunset': day,
          'x-deprecated-sunset': day,
          description: expect.stringContaining('5 December 2030'),
        },
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
        Pets: { type: 'array', maxItems: LIMIT.maximum },
      },
    },
  });
});

const PATCH_TYPES = 'application/json application/merge-patch+json';

// The parameters, of which `?` marks the optional ones, the media types of the body, and the
// statuses.
test.each([
  [
    'GET /v1/pets',
    'listPets animals stable',
    'X-D1-Bookmark? after? limit? status?',
    '',
    '200 400 401 403 429 500 503',
  ],
  [
    'POST /v1/pets',
    'createPet animals stable',
    'Idempotency-Key? X-D1-Bookmark?',
    'application/json',
    '201 400 401 403 413 415 422 429 500 503',
  ],
  [
    'GET /v1/pets/{petId}',
    'getPet animals stable',
    'X-D1-Bookmark? petId',
    '',
    '200 400 401 403 404 429 500 503',
  ],
  [
    'PATCH /v1/pets/{petId}',
    'updatePet Pets beta',
    'X-D1-Bookmark? petId',
    PATCH_TYPES,
    '200 400 401 403 404 409 413 415 429 500 503',
  ],
  [
    'DELETE /v1/pets/{petId}',
    'deletePet Pets beta',
    'X-D1-Bookmark? petId',
    '',
    '204 400 401 403 404 409 429 500 503',
  ],
  [
    'GET /v1/store/orders',
    'listOrders Store experimental',
    'X-D1-Bookmark? after? limit? status?',
    '',
    '200 400 401 403 429 500 503',
  ],
  [
    'POST /v1/store/orders',
    'placeOrder Store experimental',
    'Idempotency-Key? X-D1-Bookmark?',
    'application/json',
    '201 400 401 403 404 409 413 415 422 429 500 503',
  ],
  [
    'GET /v1/store/orders/{orderId}',
    'getOrder Store experimental',
    'X-D1-Bookmark? orderId',
    '',
    '200 400 401 403 404 429 500 503',
  ],
  [
    'PATCH /v1/store/orders/{orderId}',
    'updateOrder Store experimental',
    'X-D1-Bookmark? orderId',
    PATCH_TYPES,
    '200 400 401 403 404 409 413 415 429 500 503',
  ],
  ['GET /v1/health', 'getHealth service stable', '', '', '200 400 403 500'],
])('the description has %s: %s', (request, about, parameters, types, statuses) => {
  const found = operations.find(({ method, path }) => `${method} ${path}` === request);
  if (!found) throw new Error('it is not described');
  const { operationId, tags, 'x-stability': stability = 'stable', ...others } = found.operation;
  const names = found.parameters.map(({ name, required }) => (required ? name : `${name}?`));
  expect([operationId, ...tags, stability].join(' ')).toBe(about);
  expect(names.sort().join(' ')).toBe(parameters);
  expect(Object.keys(others.requestBody?.content ?? {}).join(' ')).toBe(types);
  for (const each of Object.values(others.requestBody?.content ?? {}))
    expect(each).toEqual(others.requestBody?.content['application/json']);
  expect(others.requestBody?.required).toBe(types ? true : undefined);
  expect(Object.keys(others.responses).join(' ')).toBe(statuses);
});

test('the parameters of a list have a limit, and a place to begin', () => {
  for (const { name, in: place, ...rest } of operations.flatMap((each) => each.parameters))
    if (place === 'path') expect(rest, name).toHaveProperty('example');
  const lists = operations.filter(({ operationId }) => operationId.startsWith('list'));
  for (const { parameters } of lists) {
    const schemas = Object.fromEntries(parameters.map(({ name, schema }) => [name, schema]));
    const limit = { type: 'integer', format: 'int32', ...LIMIT };
    expect(schemas).toMatchObject({ limit, after: { format: 'int64' } });
  }
});

/** An object of the description, and all objects in it. Some of them are schemas. */
function objectsIn(value: unknown): Record<string, unknown>[] {
  if (typeof value !== 'object' || value === null) return [];
  return [{ ...value }, ...Object.values(value).flatMap(objectsIn)];
}

test('the bodies of requests are closed, and those of responses may get fields', () => {
  const closed = Object.values(description.components.schemas).filter(
    (schema) => Object(schema).additionalProperties === false,
  );
  const bodies = operations.flatMap(
    ({ operation }) => operation.requestBody?.content['application/json'].schema ?? [],
  );
  expect(new Set(closed)).toEqual(new Set(bodies));
});

// A mock server sends the first example of the schema with every status.
test('each error has examples of its own status, and the schema Error has none', () => {
  expect(description.components.schemas.Error).not.toHaveProperty('examples');
  // What helps with a local store alone.
  const message = expect.not.stringContaining('npm');
  for (const { operation } of operations)
    for (const [status, { content, headers }] of Object.entries(operation.responses)) {
      expect(headers['X-Request-Id']?.required, operation.operationId).toBe(true);
      for (const { value } of Object.values(content?.['application/json'].examples ?? {}))
        expect(value, operation.operationId).toMatchObject({ status: Number(status), message });
    }
});

test.each(Object.entries<{ example?: string }>(description.components.headers))(
  'the example of the header %s fits its schema',
  (name, { example }) => {
    if (example) expect(problems(`components/headers/${name}/schema`, example)).toEqual([]);
  },
);

/**
 * Syntax that not all of Go, Rust, Java, Python and JavaScript have, or have without the flag `u`.
 */
const NOT_PORTABLE = /\\u|\\p|\\[dDwWbBAzZ]|\(\?/;

test('the file has no character that its readers may not see', () => {
  expect(text).not.toMatch(/[\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]/u);
});

test('the patterns are in the part of regular expressions that all languages share', () => {
  const patterns = objectsIn(description).flatMap(({ pattern }) => pattern ?? []);
  expect(patterns.length).toBeGreaterThan(8);
  expect(patterns.filter((pattern) => NOT_PORTABLE.test(String(pattern)))).toEqual([]);
});

test('every string, integer and array of the description is bounded', () => {
  const unbounded = objectsIn(description).filter((schema) => {
    if (schema.type === 'string') return !(schema.enum ?? schema.const ?? schema.maxLength);
    if (schema.type === 'array') return schema.maxItems === undefined;
    // Clients choose the type by the format. Tools in JavaScript would round the range of an int64.
    const hasRange = schema.minimum !== undefined && schema.maximum !== undefined;
    return schema.type === 'integer' && hasRange === (schema.format === 'int64');
  });
  expect(unbounded).toEqual([]);
});
