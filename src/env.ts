/**
 * What a request carries through the app. `Env`, the bindings, is generated from wrangler.toml into
 * worker-configuration.d.ts by `npm run types`.
 */
export type AppEnv = {
  Bindings: Env;
  Variables: {
    /** Names this request in the log and in its `X-Request-Id` header. */
    requestId: string;
    /** What its queries run on instead of the primary, if it asked for that. */
    session: D1DatabaseSession | undefined;
    /** Id of the API key's record; set by `authenticate`. */
    keyId: string;
    /** What the request's log line will say beyond the request itself. */
    log: LogFields;
  };
};

/** Filled in along the way; never the API key, a body or an animal's name. */
export type LogFields = {
  /** KV failed: the key was taken for what it last was known to be. */
  keyStale?: true;
  /** Rate limiters that failed, so that the request passed: which, and why. */
  limiterFailures?: string[];
  /** The operation is deprecated: an operator can see whom to warn. */
  deprecated?: true;
  /** `code` of the Error that was answered. */
  code?: string;
  /** Why it was answered, for the operator alone: the platform's text or what to do about it. */
  cause?: string;
  /** Stack of an exception that nobody expected. */
  stack?: string;
  /** Milliseconds spent waiting for D1. */
  d1Ms?: number;
  /** Milliseconds spent waiting for KV. */
  kvMs?: number;
  /** How often D1 was asked. */
  d1Attempts?: number;
  /** Region of the D1 instance that answered last. */
  d1Region?: string;
};
