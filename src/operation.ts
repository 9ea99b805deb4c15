/** The middleware of an operation. */
import { zValidator } from '@hono/zod-validator';
import type { Context, MiddlewareHandler } from 'hono';
import { every } from 'hono/combine';
import type * as z from 'zod/mini';
import { authenticate, requireScope } from './auth/authenticate.ts';
import { limitRate } from './auth/rate-limit.ts';
import type { AppEnv } from './context.ts';
import type { AuthenticatedDefinition, OperationDefinition } from './definition.ts';
import { type ApiError, serviceUnavailable } from './errors.ts';
import { readBody } from './http/body.ts';
import { invalidPart, requireValid } from './http/problems.ts';
import { requireValidQueryText } from './http/query-text.ts';
import { readHeaders } from './http/request-headers.ts';
import { NoParameters } from './http/schemas.ts';
import { requireHost } from './http/urls.ts';
import type { OnlyKnown, OperationMiddleware } from './operation-types.ts';

/** The definition of each middleware that `operation` has made, for openapi/. */
export const definitions = new WeakMap<object, OperationDefinition>();

/**
 * The middleware of an operation: admits the request, and validates the parts that the definition has a schema for. For the handler,
 * they are `c.req.valid(…)`. The first step that throws ends the request.
 *
 * @example
 * new Hono<AppEnv>().get(
 *   '/pets/:petId',
 *   operation({ operationId: 'getPet', scope: 'read', param: PetPath, errors: ['pet_not_found'] }),
 *   async (c) => {
 *     const { petId } = c.req.valid('param');
 *     return c.json(await getPet(c, petId), 200);
 *   },
 * );
 */
export function operation<const D extends OperationDefinition>(
  definition: D & OnlyKnown<D>,
): OperationMiddleware<D>;
export function operation(definition: OperationDefinition): MiddlewareHandler {
  const { operationId, param, query = NoParameters, json, mediaTypes } = definition;
  const steps: (MiddlewareHandler | undefined)[] = [
    admit(definition),
    param && zValidator('param', param, requireValid),
    zValidator('query', query, requireValid),
    json && validateBody(json, mediaTypes),
  ];
  const middleware = every(...steps.filter((step) => step !== undefined));
  // Hono's `showRoutes` prints the name.
  definitions.set(middleware, definition);
  return Object.defineProperty(middleware, 'name', { value: operationId });
}

/** Admits a request, and checks its query as text and its headers. */
function admit(definition: OperationDefinition): MiddlewareHandler<AppEnv> {
  return async (c, next) => {
    if (definition.scope) requireHost(c);
    // After the host is valid, because the links of a deprecated operation need one.
    c.set('definition', definition);
    if (definition.scope) await admitClient(c, definition);
    requireValidQueryText(c.req);
    if (definition.scope) readHeaders(c, definition);
    await next();
  };
}

/** A 401 does not count towards the rate limits, and every later rejection does. */
async function admitClient(c: Context<AppEnv>, { scope }: AuthenticatedDefinition): Promise<void> {
  const client = await authenticate(c);
  await limitRate(c, client, scope);
  requireScope(client, scope);
  if (scope === 'write' && c.env.WRITES_STOPPED !== undefined) throw writesStopped();
}

function writesStopped(): ApiError {
  const cause = new Error('The secret WRITES_STOPPED is set.');
  return serviceUnavailable(
    'Writes are temporarily stopped; reads still work. Retry later.',
    cause,
  );
}

/**
 * Validates the body, for `c.req.valid('json')`. Not `zValidator`, which calls `c.req.json()`: that replaces invalid UTF-8, and rounds
 * integers beyond 2^53. https://github.com/honojs/hono/blob/28a9c128912de19f3fb28b00ae289c9b93f6f392/src/validator/validator.ts#L99
 */
function validateBody(
  schema: z.ZodMiniObject,
  mediaTypes?: readonly string[],
): MiddlewareHandler<AppEnv> {
  return async (c, next) => {
    const { data, error } = schema.safeParse(await readBody(c, mediaTypes));
    if (error) throw invalidPart(error);
    c.req.addValidatedData('json', data);
    await next();
  };
}
