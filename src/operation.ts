/** The middleware of an operation, and the 400 for a part of a request that does not match its schema. */
import { zValidator } from '@hono/zod-validator';
import type { MiddlewareHandler } from 'hono';
import { every } from 'hono/combine';
import { createMiddleware } from 'hono/factory';
import type * as z from 'zod/mini';
import { authenticate, requireScope } from './auth/authenticate.ts';
import { limitRate } from './auth/rate-limit.ts';
import type { AppEnv, OperationEnv } from './context.ts';
import type { OperationDefinition } from './definition.ts';
import { type ApiError, writesStopped } from './errors.ts';
import { readBody } from './http/body.ts';
import { invalidRequest, shortened } from './http/problems.ts';
import { requireNoParameters, requireValidQueryText } from './http/query.ts';
import { readHeaders } from './http/request-headers.ts';

/** The validated parts of a request, for `c.req.valid(…)`: those that the definition has a schema for. */
type Valid<D extends OperationDefinition> = {
  // Leaves out a part whose type includes `undefined`, as in the type `OperationDefinition` itself: the schema may be absent.
  [Part in keyof D & ('param' | 'query' | 'json') as undefined extends D[Part]
    ? never
    : Part]: z.output<D[Part]>;
};

/**
 * The middleware of an operation: admits the request, and then validates its parts. The first invalid part is reported.
 *
 * @example
 * pets.get('/pets/:petId', operation(getPet), async (c) => {
 *   const { petId } = c.req.valid('param');
 * });
 */
export function operation<D extends OperationDefinition>(
  definition: D,
): MiddlewareHandler<OperationEnv, string, { out: Valid<D> }> {
  const { operationId, param, query, json, mediaTypes } = definition;
  // In the order that docs/api.md promises.
  const steps: MiddlewareHandler[] = [
    admit(definition),
    requireValidQueryText,
    readHeaders(definition),
  ];
  if (param) steps.push(zValidator('param', param, requireValid));
  steps.push(query ? zValidator('query', query, requireValid) : requireNoParameters);
  if (json) steps.push(jsonBody(json, mediaTypes));
  // `npm run openapi` reads the id from `app.routes`, to compare the routes with the OpenAPI description.
  return Object.assign(every(...steps), { operationId });
}

/**
 * Admits a request if its API key is valid, is within its rate limits and has the operation's scope. A 401 does not count towards
 * the rate limits, and every later rejection does.
 */
function admit(definition: OperationDefinition) {
  const { scope } = definition;
  return createMiddleware<AppEnv>(async (c, next) => {
    c.set('definition', definition);
    const client = await authenticate(c);
    await limitRate(c, client, scope);
    requireScope(client, scope);
    if (scope === 'write' && c.env.WRITES_STOPPED) throw writesStopped();
    await next();
  });
}

/**
 * Reads and validates the body. Not `zValidator`, which calls `c.req.json()`: that replaces invalid UTF-8, and rounds integers
 * beyond 2^53.
 */
function jsonBody(schema: z.ZodMiniObject, mediaTypes?: readonly string[]) {
  return createMiddleware(async (c, next) => {
    const { data, error } = schema.safeParse(await readBody(c, mediaTypes));
    if (error) throw invalidPart(error);
    // For `c.req.valid('json')`.
    c.req.addValidatedData('json', data);
    await next();
  });
}

/** Parameters of the path or the query, before their validation. */
type RawParameters = Record<string, unknown>;

/** The hook of every `zValidator`. */
function requireValid({ data, error }: { data: RawParameters; error?: z.core.$ZodError }): void {
  if (error) throw invalidPart(error, data);
}

/**
 * The 400 that names the problems of the path, the query or the body, as `name: problem`. The raw parameters show which of them
 * are repeated; of a body, there are none.
 */
export function invalidPart(
  { issues }: z.core.$ZodError,
  parameters: RawParameters = {},
): ApiError {
  const problems = issues.flatMap((issue) => {
    if (issue.code === 'unrecognized_keys') {
      return issue.keys.map((name) => `${shortened(name)}: ${issue.message}`);
    }
    // The name of the field at the top, also for a problem inside it. A problem of the whole body has no path.
    const name = String(issue.path[0] ?? 'body');
    // Hono makes an array of a repeated query parameter.
    const isRepeated = Array.isArray(parameters[name]);
    return `${name}: ${isRepeated ? 'must be given only once' : issue.message}`;
  });
  return invalidRequest(problems);
}
