/** The request headers that operations share, for `components/parameters`. */
import {
  ACCEPTED_BOOKMARK,
  MAX_IDEMPOTENCY_KEY_LENGTH,
  SESSION_STARTS,
} from '../src/http/request-headers.ts';
import { KEPT_HOURS } from '../src/idempotency/create-once.ts';

export const PARAMETERS = {
  Bookmark: {
    name: 'X-D1-Bookmark',
    in: 'header',
    description:
      'Runs the request in a session: the nearest replica that has at least that state may serve a read. Must be `first-unconstrained`, `first-primary`, or a bookmark from an earlier response. Without it, the request runs on the primary (read-your-writes).',
    schema: {
      type: 'string',
      minLength: 1,
      maxLength: 256,
      // The pattern of a bookmark without its `^` and `$`.
      pattern: `^(${SESSION_STARTS.join('|')}|${ACCEPTED_BOOKMARK.source.slice(1, -1)})$`,
    },
  },
  IdempotencyKey: {
    name: 'Idempotency-Key',
    in: 'header',
    description: `Makes a retry safe: a request with the same key and body within ${KEPT_HOURS} hours gets the first response again. A UUID is a good key. 1 to ${MAX_IDEMPOTENCY_KEY_LENGTH} printable ASCII characters; quotes around them are ignored. Empty quotes are rejected, and so is a comma followed by a space, which is how repeated headers arrive.`,
    schema: {
      type: 'string',
      minLength: 1,
      // Two for the quotes.
      maxLength: MAX_IDEMPOTENCY_KEY_LENGTH + 2,
      // Without quotes, neither the first nor the last character is a space, because HTTP removes spaces around a value.
      pattern: `^(?!""$)(?!.*, )("[ -~]{1,${MAX_IDEMPOTENCY_KEY_LENGTH}}"|[!-~]([ -~]{0,${MAX_IDEMPOTENCY_KEY_LENGTH - 2}}[!-~])?)$`,
    },
  },
} as const;

/** A reference to a shared parameter. */
export function parameter(name: keyof typeof PARAMETERS): { $ref: string } {
  return { $ref: `#/components/parameters/${name}` };
}
