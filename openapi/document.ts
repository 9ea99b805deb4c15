/**
 * The description of the interface (OpenAPI 3.1), built from the routes of the app, their
 * definitions, and the descriptions of the resources. Used only at build time: `npm run openapi`
 * writes it to public/openapi.json.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createDocument, type ZodOpenApiOperationObject } from 'zod-openapi';
import { type ApiError, notAllowed, notFound, STATUS_OF } from '../src/errors.ts';
import type { ResourceDescription } from '../src/operation/resource-description.ts';
import { describeOperation, errorsOf, isPaged } from './operation.ts';
import { findRoutes } from './routes.ts';
import { overrideWith } from './schemas.ts';
import { codesTable } from './tables.ts';

/**
 * The file with the text at the top of the docs page. In it, `<BASE_URL>` stands for the URL of
 * the first server, and `<ERROR_CODES>` for a table.
 */
const INTRO_FILE = join(import.meta.dirname, 'about.md');

/** `x-internal` marks a server that is not for users of the API. */
export type Server = { url: string; description: string; 'x-internal': boolean };

/**
 * Builds the document.
 *
 * @param servers - their URLs are base addresses, which end in `/v1`.
 * @throws Error when an operation has no description, a description has no operation, or an error
 *   code has no example.
 */
export function describeApi(servers: Server[], resources: ResourceDescription[], version: string) {
  const operations = describedRoutes(resources);
  const errors = operations.flatMap(({ definition, about }) => {
    const { common, own } = errorsOf(definition, about);
    return [...common, ...own];
  });
  requireExamples(errors);
  const paged = operations.filter(({ definition }) => isPaged(definition));
  const pageSchemas = new Set(paged.map(({ about }) => about.responses[200]?.schema));
  const tagsInUse = operations.flatMap(({ about }) => about.tags);
  return createDocument(
    {
      openapi: '3.1.0',
      info: {
        title: 'Animal store',
        version,
        description: introduction(servers[0]?.url ?? ''),
        contact: { name: 'Documentation', url: new URL('/docs', servers[0]?.url).href },
      },
      servers,
      // The docs page shows the tags in this order, which is that of the routes.
      tags: resources
        .flatMap(({ tags }) => tags)
        .toSorted((a, b) => tagsInUse.indexOf(a.name) - tagsInUse.indexOf(b.name)),
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
      },
      paths: pathsOf(operations),
    },
    { override: overrideWith(pageSchemas) },
  );
}

/**
 * The text at the top of the docs page. It repeats docs/api.md, which a deployed store does not
 * serve.
 */
function introduction(baseUrl: string): string {
  return readFileSync(INTRO_FILE, 'utf8')
    .trim()
    .replaceAll('<BASE_URL>', baseUrl)
    .replace('<ERROR_CODES>', codesTable().replace('[retries](#retries)', '_Retries_'));
}

/** The routes, each with the description of its operation. */
export function describedRoutes(resources: ResourceDescription[]) {
  const routes = findRoutes();
  const entries = resources.flatMap(({ operations }) => Object.entries(operations));
  const examples = resources.flatMap(({ errors = [] }) => errors);
  const descriptions = new Map(entries);
  const described = routes.map((route) => {
    const { operationId } = route.definition;
    const about = descriptions.get(operationId);
    if (!about) throw new Error(`the operation ${operationId} has no description of its own`);
    descriptions.delete(operationId);
    const errors = examples.filter(({ code }) => route.definition.errors?.includes(code));
    return { ...route, about: { ...about, errors } };
  });
  const [unused] = descriptions.keys();
  if (unused) throw new Error(`the description of ${unused} has no route`);
  return described;
}

/** The operations by path and method. */
function pathsOf(operations: ReturnType<typeof describedRoutes>) {
  const paths: Record<string, Record<string, ZodOpenApiOperationObject>> = {};
  for (const { method, path, definition, about } of operations) {
    paths[path] = { ...paths[path], [method]: describeOperation(definition, about) };
  }
  return paths;
}

/**
 * Requires an example of each error code, except those of unmatched requests, which belong to no
 * operation.
 */
function requireExamples(errors: ApiError[]): void {
  const described = new Set<string>(
    [...errors, notFound(), notAllowed([])].map(({ code }) => code),
  );
  const missing = Object.keys(STATUS_OF).find((code) => !described.has(code));
  if (missing) throw new Error(`no operation describes the error code ${missing}`);
}
