/** Response metadata. */
import type { FetchResponse } from './options.ts';

export type Metadata = {
  status: number;
  /** Identifies the request in the service's log. Include it when you report a problem. */
  requestId: string | undefined;
  /** When the operation was deprecated (RFC 9745). */
  deprecation: Date | undefined;
  /** When the operation will be removed (RFC 8594). */
  sunset: Date | undefined;
  /** Whether this is the response to an earlier request with the same `Idempotency-Key`. */
  idempotencyReplayed: boolean;
  /** Seconds to wait before the next request, from `Retry-After`; 0 without it. */
  retryAfterSeconds: number;
  /** Number of requests sent. */
  attempts: number;
  /** All headers that the runtime exposes. */
  headers: FetchResponse['headers'];
};

export function metadataOf({ status, headers }: FetchResponse, attempts: number): Metadata {
  // A time in seconds, such as @1795132800.
  const deprecation = Number(headers.get('Deprecation')?.slice(1));
  const sunset = headers.get('Sunset');
  return {
    status,
    requestId: headers.get('X-Request-Id') ?? undefined,
    deprecation: deprecation ? new Date(deprecation * 1000) : undefined,
    sunset: sunset ? new Date(sunset) : undefined,
    idempotencyReplayed: headers.get('Idempotency-Replayed') === 'true',
    retryAfterSeconds: secondsOf(headers.get('Retry-After') ?? ''),
    attempts,
    headers,
  };
}

/** `Retry-After` is a number or a date (RFC 9110, 10.2.3). */
function secondsOf(retryAfter: string): number {
  if (/^\d+$/.test(retryAfter)) return Number(retryAfter);
  return Math.max(0, (Date.parse(retryAfter) - Date.now()) / 1000) || 0;
}
