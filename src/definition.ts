/** The definition of an operation, which stands in its route, and from which openapi/ builds its OpenAPI description. */
import type * as z from 'zod/mini';

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
};

/** An operation that needs an API key. */
export type AuthenticatedDefinition = CommonDefinition & {
  public?: never;
  json?: z.ZodMiniObject;
  /** Media types of the body. Default: `application/json` alone. */
  mediaTypes?: readonly string[];
  deprecation?: Deprecation;
} & (
    | { scope: 'read'; acceptsIdempotencyKey?: never }
    | {
        scope: 'write';
        /** Whether the operation accepts an `Idempotency-Key`. Its handler must then call `createOnce`, which uses the key. */
        acceptsIdempotencyKey?: boolean;
        /** The end of "It is unknown whether …" in a 503 to a request without `Idempotency-Key`, such as `the animal was added`. */
        effect: string;
        /** The next sentence of that 503: what the client should do. */
        retryAdvice: string;
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
};

/** The deprecation of an operation that still works. The responses of the operation have these values in headers. */
export type Deprecation = {
  /** The time of the deprecation, as in the header `Deprecation` (RFC 9745): `@` and the seconds since 1970. */
  since: string;
  /** The announced removal, as in the header `Sunset` (RFC 8594). The operation works until its code is removed. */
  sunset: string;
  /** The path of the replacement, without the version. */
  successor: string;
};
