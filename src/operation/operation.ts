import '../exact-json.ts';
import { zValidator } from '@hono/zod-validator';
import type { MiddlewareHandler } from 'hono';
import { requireKey } from '../auth/require-key.ts';
import type { AppEnv } from '../context.ts';
import { validateBody } from '../http/body.ts';
import { readIdempotencyKey } from '../http/idempotency-key.ts';
import { openDatabase } from '../http/open-database.ts';
import { requireValid } from '../http/problems.ts';
import { requireValidQueryText } from '../http/query-text.ts';
import { NoParameters } from '../http/schemas.ts';
import type { OperationDefinition } from './definition.ts';
import type { OnlyKnown, OperationMiddleware } from './types.ts';

/** For openapi/: the definition of each middleware. */
export const definitions = new WeakMap<object, OperationDefinition>();

/**
 * The steps of an operation. The first that throws ends the request. The handler has the parts with
 * a schema as `c.req.valid(…)`.
 */
export function operation<const D extends OperationDefinition>(
  definition: D & OnlyKnown<D>,
): OperationMiddleware<D> {
  const {
    scope,
    param,
    query = NoParameters,
    json,
    mediaTypes,
    acceptsIdempotencyKey,
  } = definition;
  // The definition first, because every response needs it; then the API key, before any work for
  // the client; the body last, because a client may send it slowly. A public operation knows no
  // client, so it has no database, no body and no idempotency key.
  const steps: (MiddlewareHandler | undefined)[] = [
    define(definition),
    scope && requireKey(scope),
    requireValidQueryText,
    scope && openDatabase(definition),
    param && zValidator('param', param, requireValid),
    zValidator('query', query, requireValid),
    json && validateBody(json, mediaTypes),
    acceptsIdempotencyKey && readIdempotencyKey,
  ];
  const middleware = inOrder(steps.filter((step) => step !== undefined));
  definitions.set(middleware, definition);
  // The steps do what this type says: test/app-type.test-d.ts.
  return middleware as OperationMiddleware<D>;
}

/** Not `every`, which composes the steps for each request. A step must not return a Response. */
function inOrder(steps: MiddlewareHandler[]): MiddlewareHandler {
  return steps.reduceRight((later, step) => (c, next) => {
    return step(c, async () => {
      await later(c, next);
    });
  });
}

export function define(definition: OperationDefinition): MiddlewareHandler<AppEnv> {
  return async function define(c, next) {
    c.set('definition', definition);
    await next();
  };
}
