/** The error that failed calls are rejected with. */
import type { components } from '../schema.d.ts';
import type { Metadata } from './metadata.ts';

/** The codes of the service: a closed set. The README of the service has the fix for each. */
export type ServiceErrorCode = components['schemas']['Error']['code'];

/**
 * The codes of the service, and four of this client:
 *
 * - `network_error`: the connection failed or was lost. `cause` is the error of `fetch`.
 * - `deadline_exceeded`: the call took longer than its `deadlineMs`.
 * - `aborted`: the call's `signal` was aborted. `cause` is the signal's reason.
 * - `invalid_response`: the response is not from the service, such as the HTML page of a proxy.
 */
export type StoreErrorCode =
  | ServiceErrorCode
  | 'network_error'
  | 'deadline_exceeded'
  | 'aborted'
  | 'invalid_response';

type Details = { metadata?: Metadata | undefined; cause?: unknown };

/**
 * Why a call failed. `code` is for programs, `message` for people.
 *
 * @example
 * try {
 *   await store.placeOrder({ petId: 7n });
 * } catch (error) {
 *   if (!(error instanceof StoreError)) throw error;
 *   if (error.code === 'pet_not_available') console.log('another client ordered it first');
 *   else console.error(error.code, error.message, error.requestId);
 * }
 */
export class StoreError extends Error {
  override readonly name = 'StoreError';
  /** For programs: what failed. */
  readonly code: StoreErrorCode;
  /** The HTTP status, if there was a response. */
  readonly status: number | undefined;
  /** Identifies the request in the service's log. Include it when you report a problem. */
  readonly requestId: string | undefined;
  /** Response metadata, if there was a response. */
  readonly metadata: Metadata | undefined;
  /** Whether a write may have been carried out: an attempt got no response, a 5xx, or an invalid response. */
  outcomeUnknown = false;

  constructor(code: StoreErrorCode, message: string, { metadata, cause }: Details = {}) {
    super(message, { cause });
    this.code = code;
    this.status = metadata?.status;
    this.requestId = metadata?.requestId;
    this.metadata = metadata;
  }
}
