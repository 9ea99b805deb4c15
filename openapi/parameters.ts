/** The request headers that operations share, in `components/parameters`. */
import * as z from 'zod/mini';
import { ACCEPTED_BOOKMARK, MAX_IDEMPOTENCY_KEY_LENGTH } from '../src/http/request-headers.ts';
import { KEPT_HOURS } from '../src/idempotency/create-once.ts';

// The patterns accept more than the service: to reject the rest, which the texts name, they would
// need look-ahead.

export const Bookmark = z
  .optional(z.string().check(z.minLength(1), z.maxLength(256), z.regex(ACCEPTED_BOOKMARK)))
  .register(z.globalRegistry, {
    param: {
      id: 'Bookmark',
      description:
        'The oldest state of the database that a read may return. Must be a bookmark from an earlier response, `first-unconstrained` (any state, also of a replica), or `first-primary` (the default: the latest state). Writes do not use it.',
    },
  });

/** Neither end is a space, because HTTP removes spaces around a value. */
const IDEMPOTENCY_KEY = /^[!-~]([ -~]*[!-~])?$/;

export const IdempotencyKey = z
  .optional(
    z
      .string()
      // Also with quotes, around which the service accepts two characters more.
      .check(z.minLength(1), z.maxLength(MAX_IDEMPOTENCY_KEY_LENGTH), z.regex(IDEMPOTENCY_KEY)),
  )
  .register(z.globalRegistry, {
    param: {
      id: 'IdempotencyKey',
      description: `Makes a retry safe: within ${KEPT_HOURS} hours, a request with the same key and body gets the first 201, 404 or 409 again. Use a new key, such as a UUID, for each animal or order. Must be 1 to ${MAX_IDEMPOTENCY_KEY_LENGTH} printable ASCII characters, without a comma followed by a space. Quotes around the key are ignored.`,
    },
  });
