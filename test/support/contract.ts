/** The OpenAPI description, and the check of a response against it. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect } from 'vitest';
import { PROJECT_ROOT } from '../../ops/command/project-root.ts';
import { VERSION_PATH } from '../../src/http/urls.ts';
import type { Reply } from './store.ts';

type Content = { 'application/json': { examples?: Record<string, { value: object }> } };
type Operation = {
  operationId: string;
  tags: string[];
  'x-stability'?: string;
  deprecated?: boolean;
  security?: unknown[];
  requestBody?: { content: Content };
  responses: Record<
    string,
    {
      headers: Record<string, { required: boolean; schema: { type: string } }>;
      content?: Content;
    }
  >;
};

export const text = readFileSync(join(PROJECT_ROOT, 'public/openapi.json'), 'utf8');
export const description = JSON.parse(text);

/** Parses JSON, with each component in place of the references to it. */
const resolve = (json: string) =>
  JSON.parse(json, (_, value) => {
    const [, kind = '', name = ''] = /#\/components\/(\w+)\/(.+)/.exec(value?.$ref) ?? [];
    const component = description.components[kind]?.[name];
    return component ? { ...resolve(JSON.stringify(component)), ...value } : value;
  });
const paths: Record<string, Record<string, Operation>> = resolve(text).paths;

/**
 * The operations, with their paths from the origin on, and the JSON pointers to their descriptions.
 */
export const operations = Object.entries(paths).flatMap(([path, item]) =>
  Object.entries(item).map(([method, operation]) => {
    const content = operation.requestBody?.content['application/json'];
    return {
      method: method.toUpperCase(),
      path: `${VERSION_PATH}${path}`,
      operationId: operation.operationId,
      operation,
      exampleBody: Object.values(content?.examples ?? {})[0]?.value,
      pointer: `paths/${encodeURIComponent(path.replaceAll('/', '~1'))}/${method}`,
    };
  }),
);

// Clients ignore unknown fields; in a test, a field that is not described is an error. A map
// describes its fields there.
const closed = JSON.parse(text, (_, value) =>
  value?.type === 'object' ? { additionalProperties: false, ...value } : value,
);
const ajv = new Ajv2020({ strict: false, allErrors: true });
ajv.addFormat('int32', { type: 'number', validate: (value) => (value | 0) === value });
// A double that an int64 can be rounded to.
ajv.addFormat('int64', { type: 'number', validate: (value) => Math.abs(value) <= 2 ** 63 });
// As the service writes times: RFC 3339 in UTC, with milliseconds.
ajv.addFormat('date-time', (text: string) => new Date(text).toJSON() === text);
ajv.addSchema(closed, 'description');

/** Validates a value with the schema at this JSON pointer, and returns the problems. */
export function problems(pointer: string, value: unknown): string[] {
  const validate = ajv.getSchema(`description#/${pointer}`);
  if (!validate) throw new Error(`the description has no ${pointer}`);
  validate(value);
  return (validate.errors ?? []).map((error) => `${error.instancePath} ${error.message}`);
}

/**
 * Expects a response to have a status, a body and headers that its operation describes. Other paths
 * have no operation.
 */
export function expectDescribed(method: string, url: string, reply: Reply): void {
  const [path = ''] = url.split('?');
  const found = operations.find(
    (each) =>
      each.method === method.replace('HEAD', 'GET') &&
      new RegExp(`^${each.path.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(path),
  );
  if (!found) return;
  const name = `${found.operationId} ${reply.status}`;
  const described = found.operation.responses[reply.status];
  if (!described) throw new Error(`${name} is not described`);

  if (described.content && method !== 'HEAD') {
    const schema = `${found.pointer}/responses/${reply.status}/content/application~1json/schema`;
    expect(problems(schema, reply.body), `the body of ${name}: ${reply.text}`).toEqual([]);
    // The errors have an example for each code.
    const { examples } = described.content['application/json'];
    if (reply.status >= 400) expect(examples, name).toHaveProperty([Object(reply.body).code]);
  }
  for (const [header, { required, schema }] of Object.entries(described.headers)) {
    const value = reply.headers.get(header);
    const typed = schema.type === 'integer' ? Number(value) : value;
    const isValid = value === null ? !required : ajv.validate(schema, typed);
    expect(isValid, `${header} of ${name}: ${value}`).toBe(true);
  }
  const exposed = reply.headers.get('access-control-expose-headers')?.split(',') ?? [];
  const undescribed = exposed.filter(
    (header) => reply.headers.has(header) && !(header in described.headers),
  );
  expect(undescribed, `headers of ${name} that are not described`).toEqual([]);
}
