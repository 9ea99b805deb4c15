/** The middleware of every operation. */
import type { MiddlewareHandler } from 'hono';
import { authenticate, requireScope } from './auth/authenticate.ts';
import { limitRate } from './auth/rate-limit.ts';
import type { AppEnv, OperationDefinition } from './context.ts';
import { writesStopped } from './errors.ts';
import { validateHeaders } from './http/headers.ts';
import { validateSearch } from './http/validate.ts';

/**
 * The middleware of an operation. It authenticates, limits the rate and checks the scope. It checks the length and the
 * encoding of the query, and validates the headers. Then `zValidator` validates the path, the query and the body.
 *
 * @example
 * pets.get('/pets/:petId', operation(getPet), zValidator('param', getPet.param, rejectInvalid), async (c) => {
 *   const { petId } = c.req.valid('param');
 * });
 */
export function operation(definition: OperationDefinition): MiddlewareHandler<AppEnv> {
  const { operationId, scope, query } = definition;
  const middleware: MiddlewareHandler<AppEnv> = async (c, next) => {
    c.set('operation', definition);
    c.get('log').operation = operationId;
    await authenticate(c);
    await limitRate(c);
    requireScope(c);
    if (scope === 'write' && c.env.WRITES_STOPPED) throw writesStopped();
    validateSearch(c, query);
    validateHeaders(c);
    await next();
  };
  // openapi/document.ts reads the id from the routes, to check that it describes them all.
  return Object.assign(middleware, { operationId });
}
