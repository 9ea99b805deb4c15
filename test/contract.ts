/** The OpenAPI description, and the check of a response against it. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { expect } from 'vitest';
import { PROJECT_ROOT } from '../ops/wrangler.ts';
import type { Reply } from './store.ts';

export type Schema = {
  $ref?: string;
  type?: string;
  format?: string;
  enum?: string[];
  pattern?: string;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  properties?: Record<string, Schema>;
  additionalProperties?: boolean;
  examples?: object[];
};

type Header = { required: boolean; schema: Schema };
type Parameter = { name: string; in: string; required?: boolean; schema: Schema };

type Operation = {
  operationId: string;
  tags: string[];
  'x-stability'?: string;
  security?: unknown[];
  parameters?: Parameter[];
  requestBody?: { required?: boolean };
  responses: Record<string, { headers: Record<string, Header>; content?: object }>;
};

const METHODS = ['get', 'post', 'patch', 'delete'] as const;

type Description = {
  paths: Record<string, Partial<Record<(typeof METHODS)[number], Operation>>>;
  components: {
    schemas: Record<string, Schema>;
    headers: Record<string, Header>;
    parameters: Record<string, Parameter>;
  };
};

const text = readFileSync(join(PROJECT_ROOT, 'public/v1/openapi.json'), 'utf8');
export const description: Description = JSON.parse(text);

/** The paths, with headers and parameters in place of the references to them. */
const { paths }: Description = JSON.parse(text, (_, value) => {
  const { headers, parameters } = description.components;
  const [, kind, name] = /^#\/components\/(headers|parameters)\/(.+)$/.exec(value?.$ref) ?? [];
  if (!name) return value;
  return kind === 'headers' ? headers[name] : parameters[name];
});

/** Each operation, with its method, its path from the origin on, and the place of its description. */
export const operations = Object.entries(paths).flatMap(([path, item]) =>
  METHODS.flatMap((method) => {
    const operation = item[method];
    const pointer = ['paths', path, method];
    return operation
      ? [{ method: method.toUpperCase(), path: `/v1${path}`, operation, pointer }]
      : [];
  }),
);

/** The operations without a request among these, such as `GET /v1/pets/1?x=1`. */
export function operationsWithout(requests: string[]) {
  return operations.filter(({ method, path }) => {
    const pattern = new RegExp(`^${method} ${path.replace(/\{\w+\}/, '[0-9]+')}(\\?|$)`);
    return !requests.some((request) => pattern.test(request));
  });
}

// Clients ignore unknown fields; in a test, a field that is not described is an error.
const closed: Description = structuredClone(description);
for (const schema of Object.values(closed.components.schemas)) {
  if (schema.type === 'object') schema.additionalProperties = false;
}
const ajv = new Ajv2020({ strict: false, allErrors: true });
for (const format of ['int32', 'int64']) ajv.addFormat(format, true);
ajv.addFormat('date-time', (text: string) => new Date(text).toISOString() === text);
ajv.addSchema(closed, 'description');

const validators = new Map<string, ValidateFunction>();

/** Validates a value with the schema at this path of the document, and returns the errors. */
export function problems(pointer: string[], value: unknown): string[] {
  const path = pointer.map((part) => part.replaceAll('~', '~0').replaceAll('/', '~1'));
  const reference = `description#/${path.map(encodeURIComponent).join('/')}`;
  const validate = validators.get(reference) ?? ajv.compile({ $ref: reference });
  validators.set(reference, validate);
  return validate(value)
    ? []
    : (validate.errors ?? []).map((e) => `${e.instancePath} ${e.message}`);
}

const KNOWN_HEADERS = new Set(
  operations.flatMap(({ operation }) =>
    Object.values(operation.responses).flatMap(({ headers }) => Object.keys(headers)),
  ),
);

/** Expects a response to have a status, body and headers that its operation describes. Ignores other routes. */
export function expectDescribed(method: string, url: string, reply: Reply): void {
  const { pathname } = new URL(url, 'http://localhost');
  const found = operations.find(
    ({ method: described, path }) =>
      described === (method === 'HEAD' ? 'GET' : method) &&
      new RegExp(`^${path.replace(/\{\w+\}/, '[^/]+')}$`).test(pathname),
  );
  if (!found) return;
  const { operation, pointer } = found;
  const name = `${operation.operationId} ${reply.status}`;
  const response = operation.responses[reply.status];
  expect(response, `${name} is not described`).toBeDefined();
  if (!response) return;

  if (method !== 'HEAD' && response.content) {
    const type = reply.headers.get('content-type') ?? '';
    expect(Object.keys(response.content), `Content-Type of ${name}`).toContain(type);
    const content = [...pointer, 'responses', String(reply.status), 'content', 'application/json'];
    const body = problems([...content, 'schema'], reply.body);
    expect(body, `body of ${name}: ${reply.text}`).toEqual([]);
  }
  const exposed = reply.headers.get('access-control-expose-headers')?.split(',') ?? [];
  for (const header of new Set([...KNOWN_HEADERS, ...exposed])) {
    const value = reply.headers.get(header);
    const expected = response.headers[header];
    if (value !== null) expect(expected, `${header} of ${name} is not described`).toBeDefined();
    else expect(expected?.required ?? false, `${header} of ${name} is missing`).toBe(false);
    if (value === null || !expected) continue;
    const { type } = expected.schema;
    const isValid = ajv.validate(expected.schema, type === 'integer' ? Number(value) : value);
    expect(isValid, `${header} of ${name}: ${value}`).toBe(true);
  }
}

/** An Error body, which has exactly the three fields, as `400 invalid_request: limit: must be …`. */
export function errorOf(body: unknown): string {
  const { code, message, status, ...others }: Record<string, unknown> = { ...Object(body) };
  expect(others).toEqual({});
  return `${status} ${code}: ${message}`;
}
