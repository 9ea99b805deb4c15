/** The middleware of an operation. */
import '../exact-json.ts';
import { zValidator } from '@hono/zod-validator';
import type { MiddlewareHandler } from 'hono';
import { every } from 'hono/combine';
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
 * The steps of an operation. The first that throws ends the request. For the handler, the parts
 * that the definition has a schema for are `c.req.valid(…)`.
 * For an example, see src/pets/routes.ts.
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
  // the client; then the parts of the request, the body last, because a client may send it slowly.
  // A public operation lacks the key, and so what belongs to a client: the database, the body and
  // the idempotency key.
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
  const middleware = every(...steps.filter((step) => step !== undefined));
  definitions.set(middleware, definition);
  // Its steps throw the errors and validate the parts that this type has: test/app-type.test-d.ts.
  return middleware as OperationMiddleware<D>;
}

export function define(definition: OperationDefinition): MiddlewareHandler<AppEnv> {
  return async function define(c, next) {
    c.set('definition', definition);
    await next();
  };
}
