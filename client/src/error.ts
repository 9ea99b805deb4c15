/** The error that failed calls are rejected with. */
import type { ServiceErrorCode } from '../schema.d.ts';

/**
 * The codes of the service, those that a newer service adds, and five of this client:
 *
 * - `network_error`: `fetch` failed, the connection was lost, or an attempt took longer than `attemptTimeoutMs`.
 * - `deadline_exceeded`: the call took longer than `deadlineMs`.
 * - `aborted`: a `signal` was aborted.
 * - `invalid_response`: the response is not from the store, such as a redirect or the HTML page of a proxy.
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

/** A test of a user's program may give some of the fields. */
export type StoreErrorDetails = Partial<Omit<StoreError, 'name' | 'code' | 'message' | 'toJSON'>>;

/** Why a call failed. `code` is for programs, `message` for people. */
export class StoreError extends Error {
  override readonly name = 'StoreError';
  /** A code of the store, or one of this client's five. A `switch` over it needs a `default`. */
  readonly code: StoreErrorCode;
  /** The HTTP status, if there was a response. */
  readonly status: number | undefined;
  /** Of the last response that had one. Identifies the request in the service's log. Include it when you report a problem. */
  readonly requestId: string | undefined;
  /** How long the service asks to wait, in seconds (`Retry-After`). */
  readonly retryAfterSeconds: number | undefined;
  /** The error body of the service, with fields that this client does not know. */
  readonly body: Record<string, unknown> | undefined;
  /** Number of requests sent. */
  readonly attempts: number = 0;
  /**
   * Whether a write may have been carried out: an attempt got no response, a 408, 425 or 5xx, or a 2xx or 3xx that is not the
   * store's.
   */
  readonly outcomeUnknown: boolean = false;
  /** Of a create whose outcome is unknown: repeat the call with it, and nothing is created twice. */
  readonly idempotencyKey: string | undefined;

  constructor(code: StoreErrorCode, message: string, { cause, ...fields }: StoreErrorDetails = {}) {
    // An undefined cause would be printed.
    super(message, cause === undefined ? {} : { cause });
    this.code = code;
    Object.assign(this, fields);
  }

  /** For logs: the fields that identify the failure. `message` alone would not be enumerable. */
  toJSON(): object {
    const { name, message, body, ...fields } = this;
    return { message, ...fields };
  }
}
