/** The error that failed calls are rejected with. */
import type { ServiceErrorCode } from '../schema.d.ts';

/**
 * The codes of the service, those that a newer service adds, and five of this client:
 *
 * - `network_error`: `fetch` failed, the connection was lost, or an attempt took longer than `attemptTimeoutMs`.
 * - `deadline_exceeded`: the call took longer than `deadlineMs`.
 * - `aborted`: a `signal` was aborted.
 * - `invalid_response`: the response is not the store's, such as a redirect or a proxy's HTML page, or the pages of a list never end.
 * - `api_key_failed`: the `apiKey` function failed, took longer than `attemptTimeoutMs`, or returned an invalid key.
 */
export type StoreErrorCode =
  | ServiceErrorCode
  | 'network_error'
  | 'deadline_exceeded'
  | 'aborted'
  | 'invalid_response'
  | 'api_key_failed'
  | (string & {});

/** All fields are optional, so that a user's tests can construct a `StoreError` with some of them. */
export type StoreErrorDetails = Partial<Omit<StoreError, 'name' | 'code' | 'message' | 'toJSON'>>;

/** Why a call failed. `code` is for programs, `message` for people. */
export class StoreError extends Error {
  override readonly name = 'StoreError';
  /** A code of the store, or one of this client's five. A `switch` over it needs a `default`. */
  readonly code: StoreErrorCode;
  /** The HTTP status of the response that made the call fail. A call that ended by a deadline or an abort has none. */
  readonly status: number | undefined;
  /** The id of the request in the service's log, from the last response that had one. Include it when you report a problem. */
  readonly requestId: string | undefined;
  /** The delay that the service asks for, in seconds (`Retry-After`). */
  readonly retryAfterSeconds: number | undefined;
  /** The error body of the service, with all its fields. */
  readonly body: Record<string, unknown> | undefined;
  /** Number of attempts. An attempt that got no valid key does not count. */
  readonly attempts: number = 0;
  /**
   * Whether a write may have been carried out, because an attempt got a 408, 425 or 5xx, a 2xx or 3xx that is not the store's, or
   * no complete response, unless the error proves that nothing was carried out.
   */
  readonly outcomeUnknown: boolean = false;
  /** The key of a create whose outcome is unknown: if you repeat the call with it within 24 hours, nothing is created twice. */
  readonly idempotencyKey: string | undefined;
  /** The cause of the failure: a copy of the error of `fetch` or `apiKey`, the reason of an abort, or a timeout. */
  declare readonly cause?: unknown;

  constructor(code: StoreErrorCode, message: string, { cause, ...fields }: StoreErrorDetails = {}) {
    // `console.log` prints a cause that is undefined but present.
    super(message, cause === undefined ? {} : { cause });
    this.code = code;
    Object.assign(this, fields);
  }

  /** For logs: the fields that identify the failure. Without this method, `message` would be missing: it is not enumerable. */
  toJSON(): object {
    const { name, message, body, ...fields } = this;
    return { message, ...fields };
  }
}
