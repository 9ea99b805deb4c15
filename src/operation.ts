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
import { rejectInvalid, validateSearch } from './http/validate.ts';

/** The validated parts of a request, for `c.req.valid(…)`: those that the definition has a schema for. */
type Valid<D extends OperationDefinition> = {
  [Part in keyof D & ('param' | 'query' | 'json')]: z.output<NonNullable<D[Part]>>;
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
): MiddlewareHandler<OperationEnv, string, { in: Valid<D>; out: Valid<D> }> {
  const { operationId, param, query, json } = definition;
  const middleware: MiddlewareHandler[] = [admit(definition)];
  if (param) middleware.push(zValidator('param', param, rejectInvalid));
  if (query) middleware.push(zValidator('query', query, rejectInvalid));
  if (json) middleware.push(readBody, zValidator('json', json, rejectInvalid));
  // openapi/document.ts finds the id in the routes. Without it, `npm run openapi` fails: the operation would seem undescribed.
  return Object.assign(every(...middleware), { operationId });
}

/**
 * Admits a request whose key has the scope of the operation, within the rate limits. Then checks the text of the query, and
 * the headers. A rejected request counts towards the rate limits, also if its key lacks the scope.
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
    validateSearch(c, { acceptsParameters: query !== undefined });
    validateHeaders(c, definition);
    await next();
  });
}
