/** The OpenAPI description, and the check of a response against it. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect } from 'vitest';
import { PROJECT_ROOT } from '../../ops/command/project-root.ts';
import { VERSION_PATH } from '../../src/http/urls.ts';
import type { Reply } from './store.ts';

/** The ids in a path, such as `{petId}`. */
const IDS = /\{\w+Id\}/g;

/** A path with an id in place of each. */
export const withIds = (path: string, id = 1) => path.replaceAll(IDS, `${id}`);

type Header = { required: boolean; schema: { type: string } };
type Schema = {
  type?: string;
  format?: string;
  enum?: string[];
  maxLength?: number;
  properties?: Record<string, Schema>;
  required?: string[];
  items?: { $ref?: string };
};
type Operation = {
  operationId: string;
  tags: string[];
  'x-stability'?: string;
  security?: unknown[];
  parameters?: {
    name: string;
    in: string;
    required?: boolean;
    example?: unknown;
    schema: Schema;
  }[];
  requestBody?: {
    required?: boolean;
    content: {
      'application/json': { schema: Schema; examples: Record<string, { value: object }> };
    };
  };
  responses: Record<
    string,
    {
      headers: Record<string, Header>;
      /** Those of errors have an example for each code. */
      content?: {
        'application/json': { schema: Schema; examples?: Record<string, { value: object }> };
      };
    }
  >;
};
type Description = {
  tags: { name: string }[];
  paths: Record<string, Record<string, Operation>>;
  components: Record<string, Record<string, Schema>>;
};

export const text = readFileSync(join(PROJECT_ROOT, 'public/v1/openapi.json'), 'utf8');
export const description: Description = JSON.parse(text);

/** The problem of an id that is not an int64. */
export const INT64 = 'must be an integer from -9223372036854775808 to 9223372036854775807';

/** The paths, with components in place of the references to them, but for references within components. */
const { paths }: Description = JSON.parse(text, (_, value) => {
  const [, kind = '', name = ''] = /#\/components\/(\w+)\/(.+)/.exec(value?.$ref) ?? [];
  return description.components[kind]?.[name] ?? value;
});

/** Each operation, with its path from the origin on, and the JSON pointer to its description. */
export const operations = Object.entries(paths).flatMap(([path, item]) =>
  Object.entries(item).map(([method, operation]) => {
    const content = operation.requestBody?.content['application/json'];
    const exampleBodies = Object.values(content?.examples ?? {}).map(({ value }) => value);
    return {
      method: method.toUpperCase(),
      path: `${VERSION_PATH}${path}`,
      operationId: operation.operationId,
      operation,
      parameters: operation.parameters ?? [],
      /** The fields of the body. */
      fields: content?.schema.properties ?? {},
      required: content?.schema.required ?? [],
      /** With the id 1. */
      examplePath: withIds(`${VERSION_PATH}${path}`),
      exampleBody: exampleBodies[0],
      exampleBodies,
      pointer: `paths/${encodeURIComponent(path.replaceAll('/', '~1'))}/${method}`,
    };
  }),
);

/** The operations that create, and those that list. */
export const creates = operations.filter(({ method }) => method === 'POST');
export const lists = operations.filter(({ parameters }) =>
  parameters.some(({ name }) => name === 'after'),
);
export type Described = (typeof operations)[number];

const schemaOf = ({ operation }: Described, status: number) =>
  operation.responses[status]?.content?.['application/json'].schema;

/** The schema of an item of a list. */
function itemOf(list: Described) {
  const [, item = ''] = /schemas\/(\w+)$/.exec(schemaOf(list, 200)?.items?.$ref ?? '') ?? [];
  return description.components.schemas?.[item];
}

/** The creates of items with one of these schemas. */
const createsOf = (schemas: (Schema | undefined)[]) =>
  creates.filter((create) => schemas.includes(schemaOf(create, 201)));

/** The create of the items of a list. It can be at another path: `GET /pets/{petId}/orders` could list what `POST /store/orders` creates. */
export function createOf(list: Described) {
  const matching = createsOf([itemOf(list)]);
  const create = matching.find(({ path }) => path === list.path) ?? matching[0];
  if (!create) throw new Error(`no operation creates what ${list.operationId} lists`);
  return create;
}

/** The values of a field in objects that have it, also in an array. */
const valuesOf = (field: string, objects: object[]) =>
  objects.flatMap((object) => Object(object)[field] ?? []).map(String);

/**
 * The filters of lists. `isField`: the items have a field of that name. `values`: all of an enum; otherwise the examples, of the
 * parameter and of the field in bodies, and one that no item has.
 */
export const filters = lists.flatMap((list) => {
  const own = list.parameters.filter(
    (each) => each.in === 'query' && each.name !== 'limit' && each.name !== 'after',
  );
  const item = itemOf(list);
  const bodies = createsOf([item]).flatMap(({ exampleBodies }) => exampleBodies);
  return own.map(({ name, schema, example }) => {
    const isField = name in (item?.properties ?? {});
    const examples = schema.enum ?? valuesOf(name, [{ [name]: example }, ...bodies]);
    const values = schema.enum ?? [...examples, '987654321'];
    return { list, name, isField, examples, values };
  });
});

/** Each list with each value of each filter. */
export const filteredLists = filters.flatMap(({ list, name, isField, values }) =>
  values.map((value) => {
    const path = `${list.examplePath}?${name}=${encodeURIComponent(value)}`;
    return { list, path, name, isField, value };
  }),
);

/** The operations on one item, whose id ends the path: the name of the id, and its collection. */
export const itemOperations = operations.flatMap((operation) => {
  const [, collection = '', idName = ''] = /^(.*)\/\{(\w+)\}$/.exec(operation.path) ?? [];
  return idName ? [{ ...operation, idName, collection: withIds(collection) }] : [];
});

/** The changes of an item: each PATCH and DELETE, with the create of its item. */
export const changes = itemOperations
  .filter(({ method }) => method !== 'GET')
  .map((change) => {
    const ofItem = operations.filter(({ path }) => path === change.path);
    const create =
      creates.find(({ examplePath }) => examplePath === change.collection) ??
      createsOf(ofItem.map((each) => schemaOf(each, 200)))[0];
    return { ...change, create };
  });

/** The described message of an operation's 503. */
export const unavailableOf = ({ operation }: Described) =>
  Object(
    operation.responses[503]?.content?.['application/json'].examples?.service_unavailable?.value,
  ).message;

/** The addresses that a GET of the description reads. */
export const readable = (addresses: string[]) =>
  addresses.filter((address) => operationOf(`GET ${address}`));

/** The operation of a request, such as `GET /v1/pets/1?x=1`; `undefined` for other routes. HEAD is described as GET. */
function operationOf(request: string) {
  return operations.find(({ method, path }) => {
    const pattern = `^${method} ${path.replaceAll(IDS, '[^/?]+')}(\\?|$)`;
    return new RegExp(pattern).test(request.replace(/^HEAD/, 'GET'));
  });
}

// Clients ignore unknown fields; in a test, a field that is not described is an error. A map describes its fields there.
const closed = JSON.parse(text, (_, value) =>
  value?.type === 'object' ? { additionalProperties: false, ...value } : value,
);
const ajv = new Ajv2020({ strict: false, allErrors: true });
ajv.addFormat('int32', { type: 'number', validate: (value) => (value | 0) === value });
// A double that an int64 can be rounded to.
ajv.addFormat('int64', { type: 'number', validate: (value) => Math.abs(value) <= 2 ** 63 });
// As the service writes and reads times: RFC 3339 in UTC, with milliseconds.
ajv.addFormat('date-time', (text: string) => new Date(text).toJSON() === text);
ajv.addSchema(closed, 'description');

/** Validates a value with the schema at this JSON pointer, and returns the errors. */
export function problems(pointer: string, value: unknown) {
  const validate = ajv.getSchema(`description#/${pointer}`);
  expect(validate, pointer).toBeDefined();
  validate?.(value);
  return (validate?.errors ?? []).map((error) => `${error.instancePath} ${error.message}`);
}

const KNOWN_HEADERS = operations
  .flatMap(({ operation }) => Object.values(operation.responses))
  .flatMap(({ headers }) => Object.keys(headers));

/** Expects a response to have a status, body and headers that its operation describes. Ignores other routes. */
export function expectDescribed(method: string, url: string, reply: Reply) {
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
    const { examples } = content['application/json'];
    if (reply.status >= 400) expect(examples, name).toHaveProperty([Object(reply.body).code]);
  }
  const exposed = reply.headers.get('access-control-expose-headers')?.split(',') ?? [];
  for (const header of new Set([...KNOWN_HEADERS, ...exposed]).difference(reported)) {
    const problem = headerProblem(headers[header], reply.headers.get(header));
    if (problem) reported.add(header);
    expect(problem, `${header} of ${name}`).toBeUndefined();
  }
}

/**
 * The headers with a problem that a test of this process has reported. Their other problems stay unsaid: a header of every response, if it
 * is described wrongly, would fail most tests, and hide the failures that have another reason.
 */
const reported = new Set<string>();

function headerProblem(described: Header | undefined, value: string | null): string | undefined {
  if (value === null) return described?.required ? 'is missing' : undefined;
  if (!described) return `is not described: ${value}`;
  const typed = described.schema.type === 'integer' ? Number(value) : value;
  return ajv.validate(described.schema, typed) ? undefined : `is invalid: ${value}`;
}

/** An Error body, which has exactly the three fields, as `400 invalid_request: limit: must be …`. */
export function errorOf(body: unknown) {
  const { code, message, status, ...others }: Record<string, unknown> = { ...Object(body) };
  expect(others).toEqual({});
  return `${status} ${code}: ${message}`;
}
