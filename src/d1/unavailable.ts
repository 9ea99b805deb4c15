/** The messages of a 503 when D1 does not respond: what the client knows, and whether a retry is safe. */

export const READ_UNAVAILABLE = 'The database is temporarily unavailable.';

/** For a write. `effect` completes "It is unknown …", as `whether the animal was added`; `advice` says whether a retry is safe. */
export function unknownOutcome(effect: string, advice: string): string {
  return `The database did not respond. It is unknown ${effect}. ${advice}`;
}

/** The advice for a create without an idempotency key. */
export const CREATE_ADVICE =
  'Check before you retry. To make retries safe, send an Idempotency-Key with the first request.';

/** For a create with an idempotency key. */
export const KEYED_UNAVAILABLE = unknownOutcome(
  'whether the request was carried out',
  'Retry with the same Idempotency-Key: it is carried out at most once.',
);
