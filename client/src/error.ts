/** The one error that calls of the store are rejected with. */
import type { components } from '../schema.d.ts';
import type { Metadata } from './metadata.ts';

/** The codes of the service: a closed set. Its README says what to do about each. */
export type ServiceErrorCode = components['schemas']['Error']['code'];

/**
 * The codes of the service, and four of this client:
 *
 * - `network_error`: no answer came, or it broke off. `cause` is the error of `fetch`.
 * - `deadline_exceeded`: the call took longer than its `deadlineMs`.
 * - `aborted`: the call's `signal` was aborted. `cause` is the signal's reason.
 * - `invalid_response`: an answer that the service does not give, such as a proxy's HTML page.
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
 *   if (error.code === 'pet_not_available') console.log('somebody else was faster');
 *   else console.error(error.code, error.message, error.requestId);
 * }
 */
export class StoreError extends Error {
  override readonly name = 'StoreError';
  /** What a program can act on. */
  readonly code: StoreErrorCode;
  /** The HTTP status, if there was an answer. */
  readonly status: number | undefined;
  /** Names the request in the service's log. Quote it when you report a problem. */
  readonly requestId: string | undefined;
  /** Response metadata, if there was a response. */
  readonly metadata: Metadata | undefined;
  /** Whether a write may have been carried out: one of its attempts got no answer, a 5xx, or an answer that is not the store's. */
  outcomeUnknown = false;

  constructor(code: StoreErrorCode, message: string, { metadata, cause }: Details = {}) {
    super(message, { cause });
    this.code = code;
    this.status = metadata?.status;
    this.requestId = metadata?.requestId;
    this.metadata = metadata;
  }
}
