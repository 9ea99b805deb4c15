/**
 * The description of the interface (OpenAPI 3.1), assembled from the descriptions of the resources. Used only at build
 * time: `npm run openapi` writes it to public/v1/openapi.json.
 */
import { createDocument } from 'zod-openapi';
import { app } from '../src/app.ts';
import { notAllowed, notFound, STATUS_OF } from '../src/errors.ts';
import { VERSION_PATH } from '../src/http/responses.ts';
import type { DescribedOperation, ResourceDescription } from './describe.ts';
import { HEADERS, headerComponents } from './headers.ts';
import { PARAMETERS } from './parameters.ts';
import { allowUnknownFields, describeSchema, ERROR_FIELDS, ErrorBody } from './schemas.ts';

/** `x-internal`: the server is not for clients of the store. */
export type Server = { url: string; description: string; 'x-internal': boolean };

/**
 * The document; `servers` are base addresses, which end in `VERSION_PATH`.
 *
 * @throws Error when a route has no description, a description no route, an error code no example, or a field
 *   no description.
 */
export function describeApi(servers: Server[], resources: ResourceDescription[], version: string) {
  requireSameRoutes(resources);
  describeSchema(ErrorBody, {
    id: 'Error',
    description: 'The body of every error: the same three fields.',
    override: allowUnknownFields,
    examples: errorExamples(resources),
  });
  const document = createDocument({
    openapi: '3.1.1',
    info: {
      title: 'Animal store',
      version,
      description: ABOUT,
      contact: { name: 'Documentation', url: new URL('/docs', servers[0]?.url).href },
    },
    servers,
    tags: resources.flatMap(({ tags }) => tags),
    security: [{ apiKey: [] }],
    components: {
      securitySchemes: {
        apiKey: {
          type: 'http',
          scheme: 'bearer',
          bearerFormat: 'animal_<environment>_<36 letters and digits>',
          description: 'An API key, as `Authorization: Bearer <API_KEY>`.',
        },
      },
      schemas: merge(resources.map(({ schemas }) => schemas)),
      headers: headerComponents(merge([HEADERS, ...resources.map(({ headers }) => headers ?? {})])),
      parameters: PARAMETERS,
    },
    paths: Object.fromEntries(
      resources.flatMap(({ paths }) => Object.entries(paths).map(pathItem)),
    ),
  });
  const fields = merge([{ Error: ERROR_FIELDS }, ...resources.map((resource) => resource.fields)]);
  describeFields(document.components?.schemas, fields);
  describeParameters(document.paths, merge(resources.map(({ parameters }) => parameters ?? {})));
  return document;
}

function merge<Value>(parts: Record<string, Value>[]): Record<string, Value> {
  return Object.assign({}, ...parts);
}

type Document = ReturnType<typeof createDocument>;
type Components = NonNullable<Document['components']>;

/** Adds the descriptions of fields to schemas. */
function describeFields(
  schemas: Components['schemas'],
  fields: Record<string, Record<string, string>>,
): void {
  for (const [name, object] of Object.entries(schemas ?? {})) {
    // Only the schema of an object has fields.
    if (typeof object !== 'object' || !('properties' in object)) continue;
    const { properties = {} } = object;
    for (const [field, schema] of Object.entries(properties)) {
      const description = fields[name]?.[field];
      const isObject = typeof schema === 'object';
      const isDescribed = isObject && ('$ref' in schema || 'description' in schema);
      if (description && isObject) properties[field] = { ...schema, description };
      else if (!isDescribed) throw new Error(`the field ${field} of ${name} has no description`);
    }
  }
}

/** Adds the descriptions of parameters in paths, whose schemas are all `Int64Text`. The schema of a parameter of a query has its own. */
function describeParameters(paths: Document['paths'], descriptions: Record<string, string>): void {
  const items = Object.values(paths ?? {});
  const operations = items.flatMap(({ get, post, patch, delete: remove }) => [
    get,
    post,
    patch,
    remove,
  ]);
  for (const parameter of operations.flatMap((operation) => operation?.parameters ?? [])) {
    // A $ref, to a shared parameter that has a description.
    if (!('in' in parameter)) continue;
    const isInPath = parameter.in === 'path';
    const description = isInPath ? descriptions[parameter.name] : parameter.description;
    if (!description) throw new Error(`the parameter ${parameter.name} has no description`);
    if (!isInPath) continue;
    // Set again, so that readers of the file find it behind the description.
    delete parameter.required;
    Object.assign(parameter, { description, required: true });
  }
}

/** Requires that the routes and the described operations are the same. A description has paths without the version. */
function requireSameRoutes(resources: ResourceDescription[]): void {
  const routed = app.routes
    // The middleware's path is `/*`. `/health` is the health check again, whose description has the path with the version.
    .filter(({ path }) => path !== '/*' && path !== '/health')
    .map(({ method, path, handler }) => {
      // Hono lists a route's middleware and its handler. Only the middleware `operation(…)` has an id.
      const id = 'operationId' in handler ? ` ${handler.operationId}` : '';
      return `${method} ${path.replaceAll(/:(\w+)/g, '{$1}')}${id}`;
    });
  const described = resources.flatMap(({ paths }) =>
    Object.entries(paths).flatMap(([path, item]) =>
      Object.entries(item).flatMap(([method, { operation, scope }]) => {
        const route = `${method.toUpperCase()} ${VERSION_PATH}${path}`;
        // Of an operation with a scope, Hono lists the middleware and the handler; of the health check the handler alone.
        return scope ? [route, `${route} ${operation.operationId}`] : [route];
      }),
    ),
  );
  const problems = [
    ...routed
      .filter((route) => !described.includes(route))
      .map((route) => `${route} is not described`),
    ...described.filter((route) => !routed.includes(route)).map((route) => `${route} has no route`),
  ];
  if (problems.length > 0) throw new Error(problems.join(', '));
}

function pathItem([path, item]: [string, Record<string, DescribedOperation>]) {
  const operations = Object.entries(item).map(([method, { operation }]) => [method, operation]);
  return [path, Object.fromEntries(operations)];
}

/** An example of each error code, including those of unmatched requests. */
function errorExamples(resources: ResourceDescription[]) {
  const operations = resources.flatMap(({ paths }) => Object.values(paths)).flatMap(Object.values);
  const errors = operations.flatMap((operation: DescribedOperation) => operation.errors);
  const all = [...errors, notFound(), notAllowed(['GET', 'HEAD', 'POST'])];
  return Object.entries(STATUS_OF).map(([code, status]) => {
    const example = all.find((error) => error.code === code);
    if (!example) throw new Error(`no operation describes the error code ${code}`);
    return { code, message: example.message, status };
  });
}

const ABOUT = `A store of animals: list them in pages, filter them by status, add, change, delete and order them.

- Every operation except \`/health\` needs an API key. A key has the scopes \`read\` and \`write\`, or \`read\` alone.
- Identifiers are 64-bit integers. Use a JSON parser that does not round integers beyond 2^53.
- Every error has the same body; \`code\` is one of a closed set. An unknown path returns 404 \`not_found\` (paths are exact, without a trailing slash). A path with an unsupported method returns 405 \`method_not_allowed\` with \`Allow\`.
- Unknown query parameters and fields, and repeated query parameters, are rejected.
- Any origin may send requests (CORS) and read the documented response headers.
- \`HEAD\` works where \`GET\` does.
- A \`PATCH\` or \`DELETE\` with \`If-Match\` or \`If-None-Match\` is rejected: responses have no \`ETag\`.
- **Stability.** An operation without \`x-stability\` is stable: it stays compatible within \`${VERSION_PATH}\`. New operations and optional response fields may be added: ignore unknown fields. An operation with \`x-stability: beta\` may change with notice in the changelog, one with \`x-stability: experimental\` may change or be removed at any time.`;
