/** The OpenAPI description, and the check of a response against it. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { expect } from 'vitest';
import { PROJECT_ROOT } from '../ops/wrangler.ts';
import type { Reply } from './store.ts';

export type Schema = {
  description?: string;
  $ref?: string;
  type?: string;
  format?: string;
  enum?: string[];
  pattern?: string;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  required?: string[];
  properties?: Record<string, Schema>;
  additionalProperties?: boolean;
  examples?: object[];
};

type Header = { required: boolean; description: string; schema: Schema; example: unknown };
type Content = { schema: Schema; example?: unknown; examples?: Record<string, { value: unknown }> };
type Response = { headers: Record<string, Header>; content?: Record<string, Content> };

type Parameter = {
  name: string;
  in: string;
  required?: boolean;
  description: string;
  schema: Schema;
};

export type Operation = {
  operationId: string;
  tags: string[];
  'x-stability'?: string;
  security?: unknown[];
  parameters?: Parameter[];
  requestBody?: { required: boolean; content: Record<string, Content> };
  responses: Record<string, Response>;
};

const METHODS = ['get', 'post', 'patch', 'delete'] as const;

type PathItem = Partial<Record<(typeof METHODS)[number], Operation>>;

export type Description = {
  servers: { url: string }[];
  paths: Record<string, PathItem>;
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

/** Each operation with its method and its path from the origin on. */
export const operations = Object.entries(paths).flatMap(([path, item]) =>
  METHODS.flatMap((method) => {
    const operation = item[method];
    const base = new URL(description.servers[0]?.url ?? '').pathname;
    return operation ? [{ method: method.toUpperCase(), path: base + path, operation }] : [];
  }),
);

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
  const { operation, path } = found;
  const name = `${operation.operationId} ${reply.status}`;
  const response = operation.responses[reply.status];
  expect(response, `${name} is not described`).toBeDefined();
  if (!response) return;

  if (method !== 'HEAD' && response.content) {
    const described =
      Object.entries(description.paths).find(([key]) => path.endsWith(key))?.[0] ?? '';
    const schema = ['paths', described, method.toLowerCase(), 'responses', String(reply.status)];
    const type = reply.headers.get('content-type') ?? '';
    expect(Object.keys(response.content), `Content-Type of ${name}`).toContain(type);
    const body = problems([...schema, 'content', 'application/json', 'schema'], reply.body);
    expect(body, `body of ${name}: ${reply.text}`).toEqual([]);
  }
  for (const header of KNOWN_HEADERS) {
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
