/**
 * The bindings and variables of Hono's context. `npm run types` generates `Env`, the bindings, from wrangler.toml
 * into worker-configuration.d.ts.
 */
import type { OperationDefinition, Scope } from './definition.ts';

export type AppEnv = {
  Bindings: Env;
  Variables: {
    /** The id of the request in the log and in the `X-Request-Id` header. */
    requestId: string;
    /** The matched operation. Unset for unmatched requests and the health check. */
    operation: OperationDefinition;
    /** The client that sent the request. `authenticate` sets it, also for a revoked or expired key. */
    client: Client;
    /** Fields of the request's log line, set while the request is handled. */
    log: LogFields;
  };
};

/** A client, as its API key identifies it. */
export type Client = {
  keyId: string;
  /** The id of the first key in the chain of rotations, so that a rotated key is still the same client. */
  id: string;
  scopes: Scope[];
};

/** Must never contain an API key, a body or a pet's name. */
export type LogFields = {
  /** `operationId` of the operation. */
  operation?: string;
  /** KV failed, so the key's last known state was used. */
  keyStale?: true;
  /** Rate limiters that failed and so let the request through, each with its error. */
  limiterFailures?: string[];
  /** The operation is deprecated. With `keyId`, this shows operators which clients to warn. */
  deprecated?: true;
  /** `code` of the Error body. */
  code?: string;
  /** Cause of the error, for operators only: the platform's message, with the fix if it is known. */
  cause?: string;
  /** Stack of an unexpected exception. Its names and positions are those of the minified bundle. */
  stack?: string;
  /** Milliseconds spent waiting for D1. */
  d1Ms?: number;
  /** Milliseconds spent waiting for KV. */
  kvMs?: number;
  /** Number of D1 attempts. */
  d1Attempts?: number;
  /** Region of the D1 instance that answered last. */
  d1Region?: string;
};
