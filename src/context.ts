/** The types of Hono's context: the bindings, and what the middleware sets. */
import type { Context, Input } from 'hono';
import type { RequestIdVariables } from 'hono/request-id';
import type {
  AuthenticatedDefinition,
  OperationDefinition,
  Scope,
} from './operation/definition.ts';

/** The context of a middleware, and of the handler of a public operation. */
export type AppEnv = {
  Bindings: Bindings;
  Variables: RequestIdVariables & {
    /** Use `logOf`. */
    log?: LogFields;
    definition?: OperationDefinition;
    /** The client that sent the request, also if its key is revoked or expired. */
    client?: Client;
    /** One for each request, so that no query reads an older state than the one before it. */
    session?: D1DatabaseSession;
    /** The session does not start at the primary. */
    readsReplica?: boolean;
    /** Validated, and without quotes. */
    idempotencyKey?: string;
  };
};

/** The context of the handler of an operation that needs an API key. */
export type AuthenticatedEnv = {
  Bindings: Bindings;
  Variables: AppEnv['Variables'] & {
    definition: AuthenticatedDefinition;
    client: Client;
    session: D1DatabaseSession;
  };
};

/**
 * What a query uses of that context. Not all of it, because a context with more variables is no
 * subtype: https://github.com/honojs/hono/issues/3854. A cron or a queue has no such context: it
 * executes its statements with d1/execute.ts.
 */
export type AuthenticatedContext<I extends Input = Input> = LogContext &
  Pick<Context<AuthenticatedEnv, string, I>, 'env' | 'req' | 'get' | 'var' | 'header'>;

/** `npm run types` generates `Env` from wrangler.toml, which has no secrets. */
export type Bindings = Env & {
  /** While this secret is set, even to an empty text, the service rejects writes. */
  WRITES_STOPPED?: string;
};

/** A client, as its API key identifies it. */
export type Client = {
  keyId: string;
  /** The id of the first key in the chain of rotations: a rotated key is still the same client. */
  id: string;
  scopes: Scope[];
};

/** The parts of any context that `logOf` needs. */
export type LogContext = {
  get(key: 'log'): LogFields | undefined;
  set(key: 'log', value: LogFields): void;
};

/**
 * The fields of a request's log line, made on first use, so that each middleware works without
 * `accessLog`, which prints them. No response depends on them.
 */
export function logOf(c: LogContext): LogFields {
  const fields = c.get('log') ?? {};
  c.set('log', fields);
  return fields;
}

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
  /** Milliseconds spent waiting. */
  d1Ms?: number;
  kvMs?: number;
  /** How often D1 itself executed the statements: it retries reads that fail. */
  d1Attempts?: number | undefined;
  /** How often the service has sent them again. */
  d1Retries?: number;
  /** Region of the D1 instance that responded. */
  d1Region?: string | undefined;
};
