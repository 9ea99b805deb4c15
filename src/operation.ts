/** The middleware of an operation. */
import { zValidator } from '@hono/zod-validator';
import type { Context, MiddlewareHandler } from 'hono';
import { every } from 'hono/combine';
import { createMiddleware } from 'hono/factory';
import type * as z from 'zod/mini';
import { authenticate, requireScope } from './auth/authenticate.ts';
import { limitRate } from './auth/rate-limit.ts';
import type { AppEnv, OperationEnv } from './context.ts';
import type { OperationDefinition, Scope } from './definition.ts';
import { type ApiError, serviceUnavailable } from './errors.ts';
import { readBody } from './http/body.ts';
import { invalidPart, requireValid } from './http/problems.ts';
import { requireValidQueryText } from './http/query.ts';
import { readHeaders } from './http/request-headers.ts';
import { requireHost } from './http/responses.ts';
import { NoParameters } from './http/schemas.ts';

/** The validated parts of a request, for `c.req.valid(…)`: those that the definition has a schema for. */
type Valid<D extends OperationDefinition> = {
  [Part in keyof D & ('param' | 'query' | 'json')]: z.output<D[Part]>;
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
  const { operationId, param, query = NoParameters, json, mediaTypes } = definition;
  // In the order that docs/api.md promises.
  const steps: MiddlewareHandler[] = [admit(definition)];
  if (param) steps.push(zValidator('param', param, requireValid));
  steps.push(zValidator('query', query, requireValid));
  if (json) steps.push(jsonBody(json, mediaTypes));
  // `npm run openapi` reads the id from `app.routes`, to compare the routes with the OpenAPI description.
  return Object.assign(every(...steps), { operationId });
}

/**
 * Admits a request if its API key is valid, is within its rate limits and has the operation's scope, and if the text of its query
 * and its headers are valid. A 401 does not count towards the rate limits, and every later rejection does.
 */
function admit(definition: OperationDefinition) {
  const { scope } = definition;
  return createMiddleware<AppEnv>(async (c, next) => {
    // Before the definition is set: then `responseHeaders` adds the links of a deprecated operation, which need a valid host.
    requireHost(c);
    c.set('definition', definition);
    const client = await authenticate(c);
    await limitRate(c, client, scope);
    requireScope(client, scope);
    requireWritesAllowed(c, scope);
    requireValidQueryText(c.req);
    readHeaders(c, definition);
    await next();
  });
}

/** @throws ApiError 503 for a write while the secret `WRITES_STOPPED` is set. */
function requireWritesAllowed({ env }: Context<AppEnv>, scope: Scope): void {
  if (scope === 'write' && env.WRITES_STOPPED) throw writesStopped();
}

function writesStopped(): ApiError {
  const cause = new Error('The secret WRITES_STOPPED is set.');
  return serviceUnavailable(
    'Writes are temporarily stopped; reads still work. Retry later.',
    cause,
  );
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
