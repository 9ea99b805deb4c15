/** The middleware of an operation. */
import { zValidator } from '@hono/zod-validator';
import type { Context, MiddlewareHandler } from 'hono';
import { every } from 'hono/combine';
import { createMiddleware } from 'hono/factory';
import type * as z from 'zod/mini';
import { authenticate, requireScope } from './auth/authenticate.ts';
import { limitRate } from './auth/rate-limit.ts';
import type { AppEnv, AuthenticatedEnv } from './context.ts';
import type {
  AuthenticatedDefinition,
  OperationDefinition,
  PublicDefinition,
  Scope,
} from './definition.ts';
import { type ApiError, serviceUnavailable } from './errors.ts';
import { readBody } from './http/body.ts';
import { invalidPart, requireValid } from './http/problems.ts';
import { requireValidQueryText } from './http/query-text.ts';
import { readHeaders } from './http/request-headers.ts';
import { type JsonOf, requireHost } from './http/responses.ts';
import { NoParameters } from './http/schemas.ts';

/** The context of the handler. A definition of unknown kind must not count as one with a client. */
type HandlerEnv<D extends OperationDefinition> = [D] extends [{ scope: Scope }]
  ? AuthenticatedEnv
  : AppEnv;

/** Rejects a member that no definition has, such as a misspelled one. */
type OnlyKnown<D> = Record<Exclude<keyof D, MemberOf<OperationDefinition>>, never>;
type MemberOf<D> = D extends unknown ? keyof D : never;

/** The parts of a request as `hc` sends them. A query can be left out if all its parameters can. */
type Input<D extends OperationDefinition> = {
  [Part in keyof D & ('param' | 'json')]: JsonOf<z.input<D[Part]>>;
} & (D extends { query: infer Query }
  ? Record<never, never> extends z.input<Query>
    ? { query?: z.input<Query> }
    : { query: z.input<Query> }
  : unknown) & {
    header?: RequestHeaders<D>;
  };

type RequestHeaders<D extends OperationDefinition> = D extends PublicDefinition
  ? never
  : { 'X-D1-Bookmark'?: string } & (D extends { acceptsIdempotencyKey: true }
      ? { 'Idempotency-Key'?: string }
      : unknown);

/** The validated parts of a request, for `c.req.valid(…)`: those that the definition has a schema for. */
type Valid<D extends OperationDefinition> = {
  [Part in keyof D & ('param' | 'query' | 'json')]: z.output<D[Part]>;
};

/**
 * The middleware of an operation: admits the request, and then validates its parts. The first invalid part is reported.
 *
 * @example
 * new Hono<AppEnv>().get(
 *   '/pets/:petId',
 *   operation({ operationId: 'getPet', scope: 'read', param: PetPath }),
 *   async (c) => {
 *     const { petId } = c.req.valid('param');
 *     return c.json({ petId: `${petId}` });
 *   },
 * );
 */
export function operation<const D extends OperationDefinition>(
  definition: D & OnlyKnown<D>,
): MiddlewareHandler<HandlerEnv<D>, string, { in: Input<D>; out: Valid<D> }> {
  const { operationId, param, query = NoParameters, json, mediaTypes } = definition;
  // In the order that docs/api.md promises.
  const steps: MiddlewareHandler[] = [
    definition.public ? admitAnyone(definition) : admitClient(definition),
  ];
  if (param) steps.push(zValidator('param', param, requireValid));
  steps.push(zValidator('query', query, requireValid));
  if (json) steps.push(jsonBody(json, mediaTypes));
  // For `app.routes`: openapi/ reads the definition there, and stacks and Hono's `showRoutes` have the name.
  return Object.defineProperties(every(...steps), {
    definition: { value: definition },
    name: { value: operationId },
  });
}

/** Admits every request if the text of its query is valid. */
function admitAnyone(definition: PublicDefinition) {
  return createMiddleware<AppEnv>(async function admitAnyone(c, next) {
    c.set('definition', definition);
    requireValidQueryText(c.req);
    await next();
  });
}

/**
 * Admits a request if its API key is valid, is within its rate limits and has the operation's scope, if its write is not stopped,
 * and if its host, the text of its query and its headers are valid. A 401 does not count towards the rate limits, and every later
 * rejection does.
 */
function admitClient(definition: AuthenticatedDefinition) {
  const { scope } = definition;
  return createMiddleware<AppEnv>(async function admitClient(c, next) {
    // Before the definition is set: once it is, `responseHeaders` adds the links of a deprecated operation, which need a valid host.
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
 * beyond 2^53. https://github.com/honojs/hono/blob/28a9c128912de19f3fb28b00ae289c9b93f6f392/src/validator/validator.ts#L99
 */
function jsonBody(schema: z.ZodMiniObject, mediaTypes?: readonly string[]) {
  return createMiddleware(async function jsonBody(c, next) {
    const { data, error } = schema.safeParse(await readBody(c, mediaTypes));
    if (error) throw invalidPart(error);
    // For `c.req.valid('json')`.
    c.req.addValidatedData('json', data);
    await next();
  });
}
