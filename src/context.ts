/** The types of Hono's context: the bindings, and what the middleware sets for the handler and for the log line. */
import type * as z from 'zod/mini';

/** The context of a middleware of the app. */
export type AppEnv = {
  Bindings: Bindings;
  Variables: {
    /** The id of the request in the log and in the `X-Request-Id` header. */
    requestId: string;
    /** Fields of the request's log line, set while the request is handled. `accessLog` prints them; no response depends on them. */
    log: LogFields;
    /** The definition of the operation, once a request has reached it. The health check has none. */
    definition?: OperationDefinition;
    /** The client that sent the request, also if its key is revoked or expired. */
    client?: Client;
    /**
     * Where the request's D1 session starts. `first-unconstrained`: at any replica's state. `first-primary`: at the newest
     * state; a write's session always starts there. A bookmark: at its state or a newer one. Absent without `X-D1-Bookmark`: no
     * session.
     */
    sessionStart?: string;
    /** The validated `Idempotency-Key`, without quotes. */
    idempotencyKey?: string;
  };
};

/** The context of a handler: `operation` has set the definition and the client. */
export type OperationEnv = {
  Bindings: Bindings;
  Variables: AppEnv['Variables'] & { definition: OperationDefinition; client: Client };
};

/** `npm run types` generates `Env` from wrangler.toml. Secrets are not in that file. */
export type Bindings = Env & {
  /** While this secret is set, the service refuses writes. A secret, because it can be set without a release. */
  WRITES_STOPPED?: string;
};

/** The permission that an operation needs, and that an API key has. */
export type Scope = 'read' | 'write';

/**
 * The facts of an operation, for its route and for the OpenAPI description (openapi/). `param`, `query` and `json` are the
 * schemas of the request's parts, each a strict object. An operation without `query` accepts no query parameters.
 */
export type OperationDefinition = {
  operationId: string;
  param?: z.ZodMiniObject;
  query?: z.ZodMiniObject;
  json?: z.ZodMiniObject;
  /** Media types of the body. Default: `application/json` alone. */
  mediaTypes?: readonly string[];
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

/** A client, as its API key identifies it. */
export type Client = {
  keyId: string;
  /** The id of the first key in the chain of rotations, so that a rotated key is still the same client. */
  id: string;
  scopes: Scope[];
};

/** Must never contain an API key, a body or a pet's name. */
type LogFields = {
  /** `operationId` of the operation. */
  operation?: string;
  /** KV failed, so the key's last known state was used. */
  keyStale?: true;
  /** Rate limiters that failed and so let the request through, each with its error. */
  limiterFailures?: string[];
  /** The operation is deprecated. With the `keyId` that `accessLog` adds, this shows operators which clients to warn. */
  deprecated?: true;
  /** `code` of the Error body. */
  code?: string;
  /** Cause of the error, for operators only, with the fix if it is known. */
  cause?: string;
  /** Stack of an unexpected exception. Its names and positions are those of the minified bundle. */
  stack?: string;
  /** Milliseconds spent waiting for D1. */
  d1Ms?: number;
  /** Milliseconds spent waiting for KV. */
  kvMs?: number;
  /** Number of times that D1 executed the statements. D1 itself repeats reads that fail. */
  d1Attempts?: number | undefined;
  /** Region of the D1 instance that responded. */
  d1Region?: string | undefined;
};
