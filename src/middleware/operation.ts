import type { MiddlewareHandler } from 'hono';
import type * as z from 'zod/mini';
import type { AppEnv } from '../env.ts';
import { jsonBody } from '../http/body.ts';
import { readBookmark } from '../http/bookmark.ts';
import { limitRate } from '../http/rate-limit.ts';
import { limitQuery, NoQuery, type Validator, validate } from '../http/validate.ts';
import { authenticate, requireScope } from '../keys/authenticate.ts';
import type { Scope } from '../keys/record.ts';

/**
 * What an operation accepts: the one definition that its route runs and its description shows. Each part
 * is a strict object schema. An operation without `query` accepts no query parameters.
 */
export type OperationDefinition = {
  operationId: string;
  scope: Scope;
  param?: z.ZodMiniObject;
  query?: z.ZodMiniObject;
  json?: z.ZodMiniObject;
  /** Media types of the body; default `application/json` alone. */
  mediaTypes?: readonly string[];
};

type Part = 'param' | 'query' | 'json';

type Parts<Definition> = {
  [P in keyof Definition & Part]: Definition[P] extends z.ZodMiniType
    ? z.output<Definition[P]>
    : never;
};

const done = async () => {};

/**
 * What happens to a request of an operation before its handler: authentication, rate limits, the key's
 * scope, the bookmark, and the validation of each part, for `c.req.valid(part)`.
 *
 * @example
 * pets.get('/pets/:petId', operation(getPet), async (c) => {
 *   const { petId } = c.req.valid('param');
 * });
 */
export function operation<Definition extends OperationDefinition>(
  definition: Definition,
): MiddlewareHandler<AppEnv, string, { in: Parts<Definition>; out: Parts<Definition> }> {
  const { operationId, scope, param, query = NoQuery, json, mediaTypes } = definition;
  const validators: Validator[] = [
    ...(param ? [validate('param', param)] : []),
    validate('query', query),
    ...(json ? [jsonBody(json, mediaTypes)] : []),
  ];
  const handler: MiddlewareHandler<AppEnv> = async (c, next) => {
    c.get('log').operation = operationId;
    await authenticate(c);
    await limitRate(c, scope);
    requireScope(c, scope);
    readBookmark(c, scope);
    limitQuery(c);
    for (const validator of validators) await validator(c, done);
    await next();
  };
  // The description finds the operation of a route by its id.
  return Object.assign(handler, { operationId });
}
