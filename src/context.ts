/** The types of Hono's context: the bindings, and what the middleware sets for the handler and for the log line. */
import type { Context, Input } from 'hono';
import type { AuthenticatedDefinition, OperationDefinition, Scope } from './definition.ts';

/** The context of a middleware of the app, and of the handler of a public operation. */
export type AppEnv = {
  Bindings: Bindings;
  Variables: {
    /** Fields of the request's log line, set while the request is handled. `accessLog` prints them; no response depends on them. */
    log: LogFields;
    /** The definition of the operation, once a request has reached it. */
    definition?: OperationDefinition;
    /** The client that sent the request, also if its key is revoked or expired. */
    client?: Client;
    /** The D1 session of a request with `X-D1-Bookmark`: one, so that no query reads an older state than the one before it. */
    session?: D1DatabaseSession;
    /** The validated `Idempotency-Key`, without quotes. */
    idempotencyKey?: string;
  };
};

/** The context of the handler of an operation that needs an API key: `operation` has set the definition and the client. */
export type AuthenticatedEnv = {
  Bindings: Bindings;
  Variables: AppEnv['Variables'] & { definition: AuthenticatedDefinition; client: Client };
};

/**
 * What a query uses of that context. Not all of it: then a handler behind a middleware with variables of its own can pass its context,
 * too. https://github.com/honojs/hono/issues/3854
 * A cron or a queue has no such context, so it cannot call a query of a request: it executes its statements with d1/execute.ts, as
 * idempotency/sweep.ts does.
 */
export type AuthenticatedContext<I extends Input = Input> = Pick<
  Context<AuthenticatedEnv, string, I>,
  'env' | 'req' | 'get' | 'var' | 'header'
>;

/** `npm run types` generates `Env` from wrangler.toml. Secrets are not in that file. */
export type Bindings = Env & {
  /** While this secret is set, even to an empty text, the service rejects writes. A secret, because it can be set without a release. */
  WRITES_STOPPED?: string;
};

/** A client, as its API key identifies it. */
export type Client = {
  keyId: string;
  /** The id of the first key in the chain of rotations, so that a rotated key is still the same client. */
  id: string;
  scopes: Scope[];
};

/** Must never contain an API key, a body or a pet's name. */
type LogFields = {
  /** KV failed, so the key's last known state was used. */
  keyStale?: true;
  /** Rate limiters that failed and so let the request through, each with its error. */
  limiterFailures?: string[];
  /** `code` of the Error body. */
  code?: string;
  /** Cause of the error, for operators only, with the fix if it is known. */
  cause?: string;
  /** Stack of an unexpected exception. Its names and positions are those of the minified bundle. */
  stack?: string | undefined;
  /** Milliseconds spent waiting for D1. */
  d1Ms?: number;
  /** Milliseconds spent waiting for KV. */
  kvMs?: number;
  /** Number of times that D1 executed the statements. D1 itself retries reads that fail. */
  d1Attempts?: number | undefined;
  /** `X-D1-Bookmark` has a format that D1 does not use today, so the primary responded. */
  unknownBookmark?: true;
  /** Region of the D1 instance that responded. */
  d1Region?: string | undefined;
};
