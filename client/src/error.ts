/** The error that failed calls are rejected with. */
import type { components } from '../schema.d.ts';
import type { Metadata } from './metadata.ts';
import type { Unknown } from './types.ts';

/** The codes of the service that this version of the client knows. */
export type ServiceErrorCode = components['schemas']['Error']['code'];

/**
 * The codes of the service, those that a newer service adds, and four of this client:
 *
 * - `network_error`: the connection failed or was lost, or an attempt took longer than `attemptTimeoutMs`.
 * - `deadline_exceeded`: the call took longer than `deadlineMs`.
 * - `aborted`: a `signal` was aborted.
 * - `invalid_response`: the response is not from the store, such as the HTML page of a proxy.
 */
export type StoreErrorCode =
  | ServiceErrorCode
  | 'network_error'
  | 'deadline_exceeded'
  | 'aborted'
  | 'invalid_response'
  | Unknown;

type Details = {
  metadata?: Metadata | undefined;
  body?: Record<string, unknown> | undefined;
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
  attempts: number;
  /** Whether a write may have been carried out: an attempt got no response, a 5xx, or an invalid response. */
  outcomeUnknown = false;

  constructor(code: StoreErrorCode, message: string, { metadata, body, cause }: Details = {}) {
    super(message, { cause });
    this.code = code;
    this.status = metadata?.status;
    this.requestId = metadata?.requestId;
    this.metadata = metadata;
    this.body = body;
    this.attempts = metadata?.attempts ?? 0;
  }
}
