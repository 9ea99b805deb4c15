/** The error that failed calls are rejected with. */
import type { components } from '../schema.d.ts';
import { type Metadata, metadataOf } from './metadata.ts';

/** The codes of the service that this version of the client knows. */
export type ServiceErrorCode = components['schemas']['Error']['code'];

/**
 * The codes of the service, those that a newer service adds, and five of this client:
 *
 * - `network_error`: `fetch` failed, the connection was lost, or an attempt took longer than `attemptTimeoutMs`.
 * - `deadline_exceeded`: the call took longer than `deadlineMs`.
 * - `aborted`: a `signal` was aborted.
 * - `invalid_response`: the response is not from the store, such as a redirect or the HTML page of a proxy.
 * - `api_key_failed`: the `apiKey` function failed, or returned an invalid key.
 */
export type StoreErrorCode =
  | ServiceErrorCode
  | 'network_error'
  | 'deadline_exceeded'
  | 'aborted'
  | 'invalid_response'
  | 'api_key_failed'
  | (string & {});

export type StoreErrorDetails = {
  /** In a test, the fields that it needs: the others get the values of a response without headers. */
  metadata?: Partial<Metadata> | undefined;
  body?: Record<string, unknown> | undefined;
  outcomeUnknown?: boolean | undefined;
  idempotencyKey?: string | undefined;
  cause?: unknown;
};

/** Why a call failed. `code` is for programs, `message` for people. */
export class StoreError extends Error {
  override readonly name = 'StoreError';
  readonly code: StoreErrorCode;
  /** The HTTP status, if there was a response. */
  readonly status: number | undefined;
  /** Identifies the last answered request in the service's log. Include it when you report a problem. */
  readonly requestId: string | undefined;
  /** Response metadata, if there was a response. */
  readonly metadata: Metadata | undefined;
  /** The error body of the service, with fields that this client does not know. */
  readonly body: Record<string, unknown> | undefined;
  /** Number of requests sent. */
  readonly attempts: number;
  /** Whether a write may have been carried out: an attempt got no response, a 5xx, or an invalid response. */
  readonly outcomeUnknown: boolean;
  /** Of a create whose outcome is unknown: repeat the call with it, and nothing is created twice. */
  readonly idempotencyKey: string | undefined;

  constructor(
    code: StoreErrorCode,
    message: string,
    { metadata, body, outcomeUnknown = false, idempotencyKey, cause }: StoreErrorDetails = {},
  ) {
    super(message, { cause });
    this.code = code;
    this.status = metadata?.status;
    this.requestId = metadata?.requestId;
    this.metadata = metadata && { ...metadataOf(Response.error(), 0), ...metadata };
    this.body = body;
    this.attempts = metadata?.attempts ?? 0;
    this.outcomeUnknown = outcomeUnknown;
    this.idempotencyKey = idempotencyKey;
  }
}

/** Whether it is a {@link StoreError}, also one of another copy of this package, for which `instanceof` is false. */
export function isStoreError(error: unknown): error is StoreError {
  return Object(error).name === 'StoreError';
}
