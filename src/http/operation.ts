import type { MiddlewareHandler } from 'hono';
import { authenticate, requireScope } from '../auth/authenticate.ts';
import { limitRate } from '../auth/rate-limit.ts';
import type { OperationDefinition } from '../definition.ts';
import type { AppEnv } from '../env.ts';
import { ApiError } from '../errors.ts';
import { readJson } from './body.ts';
import { invalidRequest, problemsOutsideBody, validateHeadersAndQuery } from './validate.ts';

/** How long a body may take until the key is authenticated again, in milliseconds. */
const SLOW_BODY_MS = 1_000;

/**
 * The middleware of an operation: authenticates, limits the rate, checks the scope and the headers, and reads the body,
 * which `c.req.json()` then returns with exact integers. After it, `zValidator` validates the path, the query and the body,
 * with `rejectInvalid` as its hook.
 *
 * If the body cannot be read and nothing else is invalid, its own error, such as a 415, is thrown.
 *
 * @example
 * pets.get('/pets/:petId', operation(getPet), zValidator('param', z.lazy(getPet.param), rejectInvalid), async (c) => {
 *   const { petId } = c.req.valid('param');
 * });
 */
export function operation(definition: OperationDefinition): MiddlewareHandler<AppEnv> {
  const { operationId, scope, json, mediaTypes } = definition;
  const middleware: MiddlewareHandler<AppEnv> = async (c, next) => {
    c.set('operation', definition);
    c.get('log').operation = operationId;
    await authenticate(c);
    await limitRate(c, scope);
    requireScope(c, scope);

    if (json) {
      const startedAt = Date.now();
      const body = await readJson(c, mediaTypes).catch((error: unknown) => {
        const problems = problemsOutsideBody(c);
        if (problems.length === 0 || !(error instanceof ApiError)) throw error;
        throw invalidRequest([...problems, `body: ${error.message}`]);
      });
      Object.assign(c.req, { json: () => Promise.resolve(body) });
      // The key may have been revoked or restricted while the client sent the body.
      if (Date.now() - startedAt > SLOW_BODY_MS) {
        await authenticate(c);
        requireScope(c, scope);
      }
    }
    // What no schema validates: the headers and the text of the query.
    await validateHeadersAndQuery(c);
    await next();
  };
  // openapi/document.ts reads the id from the routes, to check that it describes them all.
  return Object.assign(middleware, { operationId });
}
