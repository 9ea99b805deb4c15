import type { Context } from 'hono';
import type { RequestIdVariables } from 'hono/request-id';
import type { Database, Statistics } from './d1/database.ts';
import type { Once } from './idempotency/create-once.ts';
import type {
  AuthenticatedDefinition,
  OperationDefinition,
  Scope,
} from './operation/definition.ts';

/** Of a middleware, and of the handler of a public operation. */
export type AppEnv = {
  Bindings: Bindings;
  Variables: RequestIdVariables & {
    /** Use `logOf`. */
    log?: LogFields;
    definition?: OperationDefinition;
    /** The client that sent the request, also if its key is revoked or expired. */
    client?: Client;
    db?: Database;
    once?: Once;
  };
};

/** Of the handler of an operation that needs an API key. */
export type AuthenticatedEnv = {
  Bindings: Bindings;
  Variables: AppEnv['Variables'] & {
    definition: AuthenticatedDefinition;
    client: Client;
    db: Database;
  };
};

/** Of the handler of an operation that accepts an idempotency key. */
export type CreateEnv = {
  Bindings: Bindings;
  Variables: AuthenticatedEnv['Variables'] & { once: Once };
};

/** `Env` is generated from wrangler.toml, which has no secrets. */
export type Bindings = Env & {
  /** While this secret is set, even if empty, the service rejects writes. */
  WRITES_STOPPED?: string;
};

export type Client = {
  keyId: string;
  /** The id of the client's first key. A rotated key is still the same client. */
  id: string;
  scopes: Scope[];
};

/** The context of any app with these bindings: https://github.com/honojs/hono/issues/3854 */
export type AppContext = Pick<Context<AppEnv>, 'env' | 'get' | 'json' | 'req'> & {
  set(key: 'log', value: LogFields): void;
};

/** Made on first use, so that each middleware works without `accessLog`. */
export function logOf(c: AppContext): LogFields {
  const fields = c.get('log') ?? {};
  c.set('log', fields);
  return fields;
}

/** Must never contain an API key, a body or a pet's name. */
type LogFields = Statistics & {
  /** KV failed, so the key's last known state was used. */
  keyStale?: true;
  /** Rate limiters that failed, and so allowed the request. */
  limiterFailures?: string[];
  /** `code` of the Error body. */
  code?: string;
  /** For operators only: the cause of the error. */
  cause?: string;
  /** Milliseconds spent waiting. */
  kvMs?: number;
};
