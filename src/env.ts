/**
 * What a request carries through the app. `Env`, the bindings, is generated from wrangler.toml into
 * worker-configuration.d.ts by `npm run types`.
 */
import type { KeyRecord } from './keys/record.ts';

export type AppEnv = {
  Bindings: Env;
  Variables: {
    /** Names this request in the log and in its `X-Request-Id` header. */
    requestId: string;
    /** The headers of the response. */
    headers: Record<string, string>;
    /** Where a D1 session of this request begins; `undefined` for a request without `X-D1-Bookmark`. */
    bookmark: D1SessionBookmark | D1SessionConstraint | undefined;
    /** The record of the API key; set by `authenticate`, also of one that it refuses. */
    key: KeyRecord;
    /** What the request's log line will say beyond the request itself. */
    log: LogFields;
  };
};

/** Filled in along the way; never the API key, a body or an animal's name. */
export type LogFields = {
  /** `operationId` of the operation. */
  operation?: string;
  /** KV failed: the key's last known state was used. */
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
  /** Number of D1 attempts. */
  d1Attempts?: number;
  /** Region of the D1 instance that answered last. */
  d1Region?: string;
};
