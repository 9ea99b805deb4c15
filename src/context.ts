/** The types of Hono's context. */
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

/** `npm run types` generates `Env` from wrangler.toml, which has no secrets. */
export type Bindings = Env & {
  /** While this secret is set, even to an empty text, the service rejects writes. */
  WRITES_STOPPED?: string;
};

export type Client = {
  keyId: string;
  /** The id of the first key in the chain of rotations: a rotated key is still the same client. */
  id: string;
  scopes: Scope[];
};

export type LogContext = {
  get(key: 'log'): LogFields | undefined;
  set(key: 'log', value: LogFields): void;
};

/** Made on first use, so that each middleware works without `accessLog`, which prints them. */
export function logOf(c: LogContext): LogFields {
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
  /** Cause of the error, for operators only, with the fix if it is known. */
  cause?: string;
  /** Milliseconds spent waiting. */
  kvMs?: number;
};
