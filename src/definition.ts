/** The definition of an operation, which stands in its route, and from which openapi/ builds its OpenAPI description. */
import type * as z from 'zod/mini';
import type { ErrorCode } from './errors.ts';

/** The permission that an operation needs, and that an API key has. */
export type Scope = 'read' | 'write';

export type OperationDefinition = AuthenticatedDefinition | PublicDefinition;

/**
 * `param`, `query` and `json` are the schemas of the request's parts, each a strict object. An operation without `query` accepts
 * no query parameters.
 */
type CommonDefinition = {
  operationId: string;
  param?: z.ZodMiniObject;
  query?: z.ZodMiniObject;
  /** The codes of the errors that the handler throws. All other errors follow from the definition. */
  errors?: readonly ErrorCode[];
};

/** An operation that needs an API key. */
export type AuthenticatedDefinition = CommonDefinition & {
  public?: never;
  json?: z.ZodMiniObject;
  /** Media types of the body. Default: `application/json` alone. */
  mediaTypes?: readonly string[];
  deprecation?: Deprecation;
} & (
    | { scope: 'read'; acceptsIdempotencyKey?: never; effect?: never; safeRetry?: never }
    | {
        scope: 'write';
        /** Whether the operation accepts an `Idempotency-Key`. Its handler must then call `createOnce`, which uses the key. */
        acceptsIdempotencyKey?: boolean;
        /** The end of "It is unknown whether …" in a 503 to a request without `Idempotency-Key`, such as `the animal was added`. */
        effect: `the ${string} was ${string}`;
        /** Why such a request may be sent again: the end of "A retry is safe: …" in that 503. Absent if it may not. */
        safeRetry?: string;
      }
  );

/** An operation that needs no API key: a GET. It has no rate limit, so its handler cannot call `runQueries`. */
export type PublicDefinition = CommonDefinition & {
  public: true;
  scope?: never;
  json?: never;
  mediaTypes?: never;
  deprecation?: never;
  acceptsIdempotencyKey?: never;
  effect?: never;
  safeRetry?: never;
};

/** The deprecation of an operation that still works. The responses of the operation have it in headers. */
export type Deprecation = {
  /** The day of the deprecation, such as `2026-11-20`. */
  since: string;
  /** The day of the announced removal. The operation works until its code is removed. */
  sunset: string;
  /** The path of the replacement, without the version. */
  successor: string;
};
