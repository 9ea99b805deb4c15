/** The types that follow from the definition of an operation, for its handler and for `hc`. */
import type { MiddlewareHandler, TypedResponse } from 'hono';
import type { JSONParsed } from 'hono/utils/types';
import type * as z from 'zod/mini';
import type { AppEnv, AuthenticatedEnv, CreateEnv } from '../context.ts';
import type { ErrorCode, StatusOf } from '../errors.ts';
import type { OperationDefinition, PublicDefinition } from './definition.ts';

/** Its errors are part of its type, although it throws them, so that `AppType` has them. */
export type OperationMiddleware<D extends OperationDefinition> = MiddlewareHandler<
  EnvOf<D>,
  string,
  { in: Input<D>; out: Valid<D> },
  ErrorResponse<CodeOf<D>>
>;

/** Only an operation that accepts an idempotency key has `c.get('once')`. */
type EnvOf<D> = [D] extends [{ acceptsIdempotencyKey: true }]
  ? CreateEnv
  : [D] extends [{ scope: unknown }]
    ? AuthenticatedEnv
    : AppEnv;

/** Rejects a member that no definition has, such as a misspelled one. */
export type OnlyKnown<D> = Record<Exclude<keyof D, MemberOf<OperationDefinition>>, never>;
type MemberOf<D> = D extends unknown ? keyof D : never;

type Valid<D extends OperationDefinition> = {
  [Part in keyof D & ('param' | 'query' | 'json')]: z.output<D[Part]>;
};

/** As `hc` sends them: an int64 is a number. `never` allows an object that has only bigints. */
type Input<D extends OperationDefinition> = {
  [Part in keyof D & ('param' | 'json')]: JSONParsed<z.input<D[Part]>, never>;
} & QueryInput<D> & { header?: RequestHeaders<D> };

/** A query can be left out if all its parameters can. */
type QueryInput<D> = D extends { query: infer Query } ? OptionalQuery<z.input<Query>> : unknown;
type OptionalQuery<Query> =
  Record<never, never> extends Query ? { query?: Query } : { query: Query };

type RequestHeaders<D> = D extends PublicDefinition
  ? never
  : { 'X-D1-Bookmark'?: string } & IdempotencyHeader<D>;
type IdempotencyHeader<D> = D extends { acceptsIdempotencyKey: true }
  ? { 'Idempotency-Key'?: string }
  : unknown;

/** As openapi/operation.ts describes them. */
type CodeOf<D> =
  | 'https_required'
  | 'internal_error'
  | 'invalid_request'
  | (D extends { scope: unknown } ? AuthenticatedCode : never)
  | (D extends { json: unknown } ? BodyCode : never)
  | (D extends { acceptsIdempotencyKey: true } ? 'idempotency_key_reused' : never)
  | (D extends { errors: readonly (infer Code extends ErrorCode)[] } ? Code : never);
type AuthenticatedCode =
  | 'missing_api_key'
  | 'invalid_api_key'
  | 'expired_api_key'
  | 'revoked_api_key'
  | 'insufficient_scope'
  | 'rate_limited'
  | 'service_unavailable';
type BodyCode = 'invalid_json' | 'body_too_large' | 'unsupported_media_type';

type ErrorResponse<Code extends ErrorCode> = Code extends unknown
  ? Response &
      TypedResponse<{ code: Code; message: string; status: StatusOf<Code> }, StatusOf<Code>, 'json'>
  : never;
