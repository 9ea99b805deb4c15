/** The OpenAPI description, and the check of a response against it. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect } from 'vitest';
import { PROJECT_ROOT } from '../ops/wrangler.ts';
import type { Reply } from './store.ts';

type Header = { required: boolean; schema: { type: string } };
type Content = { schema: { $ref: string }; examples: Record<string, { value: object }> };
type Operation = {
  operationId: string;
  tags: string[];
  'x-stability'?: string;
  security?: unknown[];
  parameters?: { name: string; required?: boolean }[];
  requestBody?: { required?: boolean; content: { 'application/json': Content } };
  responses: Record<string, { headers: Record<string, Header>; content?: object }>;
};
type Description = {
  paths: Record<string, Record<string, Operation>>;
  components: Record<string, Record<string, object>>;
};

export const text = readFileSync(join(PROJECT_ROOT, 'public/v1/openapi.json'), 'utf8');
export const description: Description = JSON.parse(text);

/** The JSON that an operation accepts, as described. */
export const contentOf = ({ requestBody }: Operation) => requestBody?.content['application/json'];

/** The paths, with headers and parameters in place of the references to them. */
const { paths }: Description = JSON.parse(text, (_, value) => {
  const [, kind = '', name = ''] =
    /#\/components\/(headers|parameters)\/(.+)/.exec(value?.$ref) ?? [];
  return description.components[kind]?.[name] ?? value;
});

/**
 * Each operation, with its method, its path from the origin on, an example of the path and of the body, and the JSON pointer
 * to its description.
 */
export const operations = Object.entries(paths).flatMap(([path, item]) =>
  Object.entries(item).map(([method, operation]) => ({
    method: method.toUpperCase(),
    path: `/v1${path}`,
    examplePath: `/v1${path.replace(/\{\w+\}/, '1')}`,
    exampleBody: Object.values(contentOf(operation)?.examples ?? {})[0]?.value,
    operation,
    pointer: `paths/${encodeURIComponent(path.replaceAll('/', '~1'))}/${method}`,
  })),
);

/** The operation of a request, such as `GET /v1/pets/1?x=1`; `undefined` for other routes. HEAD is described as GET. */
function operationOf(request: string) {
  return operations.find(({ method, path }) => {
    const pattern = `^${method} ${path.replace(/\{\w+\}/, '[^/?]+')}(\\?|$)`;
    return new RegExp(pattern).test(request.replace(/^HEAD/, 'GET'));
  });
}

/** The operations without a request among these. */
export function operationsWithout(requests: string[]) {
  const requested = requests.map(operationOf);
  return operations.filter((operation) => !requested.includes(operation));
}

// Clients ignore unknown fields; in a test, a field that is not described is an error.
const closed = JSON.parse(text, (_, value) =>
  value?.type === 'object' ? { ...value, additionalProperties: false } : value,
);
const ajv = new Ajv2020({ strict: false, allErrors: true });
for (const format of ['int32', 'int64']) ajv.addFormat(format, true);
ajv.addFormat('date-time', (text: string) => new Date(text).toISOString() === text);
ajv.addSchema(closed, 'description');

/** Validates a value with the schema at this JSON pointer, and returns the errors. */
export function problems(pointer: string, value: unknown): string[] {
  const validate = ajv.getSchema(`description#/${pointer}`);
  expect(validate, pointer).toBeDefined();
  validate?.(value);
  return (validate?.errors ?? []).map((error) => `${error.instancePath} ${error.message}`);
}

const KNOWN_HEADERS = operations
  .flatMap(({ operation }) => Object.values(operation.responses))
  .flatMap(({ headers }) => Object.keys(headers));

/** Expects a response to have a status, body and headers that its operation describes. Ignores other routes. */
export function expectDescribed(method: string, url: string, reply: Reply): void {
  const found = operationOf(`${method} ${url}`);
  if (!found) return;
  const { operation, pointer } = found;
  const name = `${operation.operationId} ${reply.status}`;
  const { headers = {}, content } = operation.responses[reply.status] ?? {};
  expect(operation.responses, `${name} is not described`).toHaveProperty(`${reply.status}`);

  if (method !== 'HEAD' && content) {
    expect(content).toHaveProperty([reply.headers.get('content-type') ?? '']);
    const schema = `${pointer}/responses/${reply.status}/content/application~1json/schema`;
    expect(problems(schema, reply.body), `body of ${name}: ${reply.text}`).toEqual([]);
  }
  const exposed = reply.headers.get('access-control-expose-headers')?.split(',') ?? [];
  for (const header of new Set([...KNOWN_HEADERS, ...exposed])) {
    const value = reply.headers.get(header);
    const { required = false, schema } = headers[header] ?? {};
    const sent = schema?.type === 'integer' ? Number(value) : value;
    const isDescribed = value === null ? !required : schema && ajv.validate(schema, sent);
    expect(isDescribed, `${header} of ${name}: ${value}`).toBe(true);
  }
}

/** An Error body, which has exactly the three fields, as `400 invalid_request: limit: must be …`. */
export function errorOf(body: unknown): string {
  const { code, message, status, ...others }: Record<string, unknown> = { ...Object(body) };
  expect(others).toEqual({});
  return `${status} ${code}: ${message}`;
}
