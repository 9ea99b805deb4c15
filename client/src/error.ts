import type { ErrorCode } from './schema.ts';

/**
 * A code of the store, or one of this client:
 *
 * - `network_error`: `fetch` failed, or an attempt took longer than `attemptTimeoutMs`.
 * - `deadline_exceeded`: the call took longer than `deadlineMs`. `cause` is the last failure, if
 *   any.
 * - `aborted`: the `signal` was aborted. `cause` is its reason.
 * - `invalid_response`: the response is not from the store, such as a redirect or a proxy's page.
 *
 * A newer store may send other codes.
 */
export type StoreErrorCode =
  | ErrorCode
  | 'network_error'
  | 'deadline_exceeded'
  | 'aborted'
  | 'invalid_response';

/**
 * Why a call failed. The client puts no API key and no object of `fetch` into it, so it is safe to
 * log.
 */
export class StoreError extends Error {
  override readonly name = 'StoreError';
  readonly code: StoreErrorCode;
  /** The HTTP status, if there was a response. */
  readonly status: number | undefined;
  /** The id of the request in the store's log. Include it when you report a problem. */
  readonly requestId: string | undefined;
  /** Whether a failed write may have been carried out. */
  readonly outcomeUnknown: boolean = false;
  /**
   * The key of a create whose outcome is unknown: repeated with this key, it creates nothing twice
   * within 24 hours.
   */
  readonly idempotencyKey: string | undefined;
  /** Libraries before ES2022 do not declare it. */
  declare readonly cause?: unknown;

  constructor(code: StoreErrorCode, message: string, details?: StoreErrorDetails) {
    super(message, details);
    this.code = code;
    Object.assign(this, details);
  }
}

export type StoreErrorDetails = Partial<Omit<StoreError, 'name' | 'code' | 'message'>>;
