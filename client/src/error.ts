/** The error that failed calls are rejected with. */
import type { ServiceErrorCode } from '../schema.d.ts';
import type { Metadata } from './types.ts';

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

export type StoreErrorDetails = {
  /** A test of a user's program may give some of the fields: the others get the values of a response without headers. */
  metadata?: Partial<Metadata> | undefined;
  /** Default: that of `metadata`. */
  requestId?: string | undefined;
  /** Default: that of `metadata`. */
  attempts?: number | undefined;
  body?: Record<string, unknown> | undefined;
  outcomeUnknown?: boolean | undefined;
  idempotencyKey?: string | undefined;
  cause?: unknown;
};

/** The values of fields that a test of a user's program leaves out. */
const NO_METADATA: Metadata = {
  status: 0,
  requestId: undefined,
  deprecation: undefined,
  sunset: undefined,
  idempotencyReplayed: false,
  retryAfterSeconds: 0,
  attempts: 0,
  headers: { get: () => null },
};

/** The same in every copy of this package. */
const BRAND = Symbol.for('animal-store-client');

/** Why a call failed. `code` is for programs, `message` for people. */
export class StoreError extends Error {
  override readonly name = 'StoreError';
  /** A code of the store, or one of this client's five. A `switch` over it needs a `default`. */
  declare readonly code: StoreErrorCode;
  /** The HTTP status, if there was a response. */
  declare readonly status: number | undefined;
  /** Of the last response that had one. Identifies the request in the service's log. Include it when you report a problem. */
  declare readonly requestId: string | undefined;
  /** Response metadata, if there was a response. */
  declare readonly metadata: Metadata | undefined;
  /** The error body of the service, with fields that this client does not know. */
  declare readonly body: Record<string, unknown> | undefined;
  /** Number of requests sent. */
  declare readonly attempts: number;
  /**
   * Whether a write may have been carried out: an attempt got no response, a 408, 425 or 5xx, or a 2xx or 3xx that is not the
   * store's.
   */
  declare readonly outcomeUnknown: boolean;
  /** Of a create whose outcome is unknown: repeat the call with it, and nothing is created twice. */
  declare readonly idempotencyKey: string | undefined;

  constructor(
    code: StoreErrorCode,
    message: string,
    {
      metadata,
      requestId = metadata?.requestId,
      attempts = metadata?.attempts ?? 0,
      body,
      outcomeUnknown = false,
      idempotencyKey,
      cause,
    }: StoreErrorDetails = {},
  ) {
    // An undefined cause would be printed.
    super(message, cause === undefined ? {} : { cause });
    // Not enumerable, so that it is not printed.
    Object.defineProperty(this, BRAND, { value: true });
    Object.assign(this, {
      code,
      status: metadata?.status,
      requestId,
      metadata: metadata && { ...NO_METADATA, ...metadata },
      body,
      attempts,
      outcomeUnknown,
      idempotencyKey,
    });
  }

  /** For logs: what identifies the failure, and the fields of the body. Each `bigint` is text, which JSON can have. */
  toJSON(): object {
    // Without `metadata`, which repeats fields, and the `name`, which is always the same. `message` is not enumerable.
    const { name, message, metadata, body, ...fields } = this;
    return JSON.parse(
      JSON.stringify({ ...body, message, ...fields }, (_, value) =>
        typeof value === 'bigint' ? String(value) : value,
      ),
    );
  }
}

/** Whether it is a {@link StoreError}, also one of another copy of this package, for which `instanceof` is false. */
export function isStoreError(error: unknown): error is StoreError {
  return Object(error)[BRAND] === true;
}
