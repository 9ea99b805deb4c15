import type { MiddlewareHandler } from 'hono';
import type * as z from 'zod/mini';
import type { AppEnv } from '../env.ts';
import { ApiError } from '../errors.ts';
import { readJson } from '../http/body.ts';
import { readBookmark } from '../http/bookmark.ts';
import { limitRate } from '../http/rate-limit.ts';
import { invalidRequest, NoQuery, type Part, validate, validateQuery } from '../http/validate.ts';
import { validateIdempotencyKey } from '../idempotency/header.ts';
import { authenticate, requireScope } from '../keys/authenticate.ts';
import type { Scope } from '../keys/record.ts';

/**
 * What an operation accepts. Its route and its description both use this definition. Each part is a strict object
 * schema, created when it is first needed. An operation without `query` accepts no query parameters.
 */
export type OperationDefinition = {
  operationId: string;
  scope: Scope;
  param?: () => z.ZodMiniObject;
  query?: () => z.ZodMiniObject;
  json?: () => z.ZodMiniObject;
  /** Media types of the body; default `application/json` alone. */
  mediaTypes?: readonly string[];
  /** Whether the operation accepts an `Idempotency-Key`. */
  idempotent?: boolean;
};

/** How long a body may take until the key is authenticated again, in milliseconds. */
const SLOW_BODY_MS = 1_000;

type Parts<Definition> = {
  [P in keyof Definition & Part]: Definition[P] extends () => z.ZodMiniType
    ? z.output<ReturnType<Definition[P]>>
    : never;
};

/**
 * The middleware of an operation: authenticates, limits the rate, checks the scope, and validates each part for
 * `c.req.valid(part)`. One 400 lists the problems of path, query, headers and body. If the body cannot be read and
 * nothing else is invalid, its own error, such as a 415, is thrown.
 *
 * @example
 * pets.get('/pets/:petId', operation(getPet), async (c) => {
 *   const { petId } = c.req.valid('param');
 * });
 */
export function operation<Definition extends OperationDefinition>(
  definition: Definition,
): MiddlewareHandler<AppEnv, string, { in: Parts<Definition>; out: Parts<Definition> }> {
  const { operationId, scope, param, query = NoQuery, json, mediaTypes, idempotent } = definition;
  const handler: MiddlewareHandler<AppEnv> = async (c, next) => {
    c.get('log').operation = operationId;
    await authenticate(c);
    await limitRate(c, scope);
    requireScope(c, scope);
    const problems = [
      ...(param ? validate(c, 'param', param(), c.req.param()) : []),
      ...validateQuery(c, query()),
      ...(idempotent ? validateIdempotencyKey(c) : []),
      ...readBookmark(c, scope),
    ];
    const startedAt = Date.now();
    try {
      if (json) problems.push(...validate(c, 'json', json(), await readJson(c, mediaTypes)));
    } catch (error) {
      if (problems.length === 0 || !(error instanceof ApiError)) throw error;
      problems.push(`body: ${error.message}`);
    }
    if (problems.length > 0) throw invalidRequest(problems);
    // The key may have been revoked while the client sent the body.
    if (Date.now() - startedAt > SLOW_BODY_MS) await authenticate(c);
    await next();
  };
  // The description finds a route's operation by its id.
  return Object.assign(handler, { operationId });
}
