/** Response metadata. */
import { hideKey, MIN_LENGTH_IN_CODES } from './hide-key.ts';
import type { FetchResponse, Metadata } from './types.ts';

export function metadataOf(
  { status, headers }: FetchResponse,
  attempts: number,
  apiKey: string,
): Metadata {
  // Such as `@1795132800`, in seconds.
  const deprecation = headers.get('deprecation')?.slice(1);
  const requestId = headers.get('x-request-id');
  return {
    status,
    requestId: requestId ? hideKey(requestId, apiKey, MIN_LENGTH_IN_CODES) : undefined,
    deprecation: dateOf(Number(deprecation) * 1000),
    sunset: dateOf(headers.get('sunset') ?? ''),
    idempotencyReplayed: headers.get('idempotency-replayed') === 'true',
    retryAfterSeconds: retryAfterOf(headers),
    attempts,
    // Not the object itself, whose values would be printed with an error.
    headers: { get: (name) => headers.get(name) },
  };
}

function dateOf(time: number | string) {
  const date = new Date(time);
  // NaN if the text is unreadable or absent, and 0 for an empty `Deprecation`.
  return Number(date) ? date : undefined;
}

/** `Retry-After` is a number of seconds or a date (RFC 9110, 10.2.3). If a proxy repeats it, the first one counts. */
function retryAfterOf(headers: FetchResponse['headers']) {
  // A comma inside a date has a time with colons after it: the text is not split there.
  const [retryAfter = ''] = (headers.get('retry-after') ?? '').split(/,(?![^,]*:)/);
  if (/^\d+$/.test(retryAfter)) return Number(retryAfter);
  // By the clock of the server: that of this machine may be wrong. Browsers hide `Date` from pages of other origins.
  const now = Date.parse(headers.get('date') ?? '') || Date.now();
  // The result is NaN if it is not a date.
  return Math.max(0, (Date.parse(retryAfter) - now) / 1000) || 0;
}
