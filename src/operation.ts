/** The middleware of an operation. */
import { zValidator } from '@hono/zod-validator';
import type { MiddlewareHandler } from 'hono';
import { every } from 'hono/combine';
import { createMiddleware } from 'hono/factory';
import type * as z from 'zod/mini';
import { authenticate, requireScope } from './auth/authenticate.ts';
import { limitRate } from './auth/rate-limit.ts';
import type { AppEnv, OperationDefinition, OperationEnv } from './context.ts';
import { writesStopped } from './errors.ts';
import { readBody } from './http/body.ts';
import { validateHeaders } from './http/headers.ts';
import { rejectInvalid, validateQueryText } from './http/validate.ts';

/** The validated parts of a request, for `c.req.valid(…)`: those that the definition has a schema for. */
type Valid<D extends OperationDefinition> = {
  [Part in keyof D & ('param' | 'query' | 'json') as undefined extends D[Part]
    ? never
    : Part]: z.output<D[Part]>;
};

/**
 * The middleware of an operation: admits the request, and validates each part that the definition has a schema for.
 *
 * @example
 * pets.get('/pets/:petId', operation(getPet), async (c) => {
 *   const { petId } = c.req.valid('param');
 * });
 */
export function operation<D extends OperationDefinition>(
  definition: D,
): MiddlewareHandler<OperationEnv, string, { out: Valid<D> }> {
  const { operationId, param, query, json } = definition;
  const middleware: MiddlewareHandler[] = [admit(definition)];
  if (param) middleware.push(zValidator('param', param, rejectInvalid));
  if (query) middleware.push(zValidator('query', query, rejectInvalid));
  // `zValidator` calls `c.req.json()`. `readBody` replaces that method with one that makes each int64 an exact `bigint`.
  if (json) middleware.push(readBody, zValidator('json', json, rejectInvalid));
  // `npm run openapi` reads the id from `app.routes`, to compare the routes with the OpenAPI description.
  return Object.assign(every(...middleware), { operationId });
}

/**
 * Admits a request if its API key is valid, is within its rate limits and has the operation's scope. A 401 does not count towards
 * the rate limits, and every later rejection does. Then checks the query before it is parsed (its length and encoding), and the
 * headers.
 */
function admit(definition: OperationDefinition) {
  const { operationId, scope, query } = definition;
  return createMiddleware<AppEnv>(async (c, next) => {
    c.set('definition', definition);
    c.get('log').operation = operationId;
    const client = await authenticate(c);
    await limitRate(c, client, scope);
    requireScope(client, scope);
    if (scope === 'write' && c.env.WRITES_STOPPED) throw writesStopped();
    validateQueryText(c, { acceptsParameters: query !== undefined });
    validateHeaders(c, definition);
    await next();
  });
}
