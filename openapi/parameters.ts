/** The request headers that operations share, in `components/parameters`. */
import * as z from 'zod/mini';
import {
  ACCEPTED_BOOKMARK,
  MAX_IDEMPOTENCY_KEY_LENGTH,
  SESSION_STARTS,
} from '../src/http/request-headers.ts';
import { KEPT_HOURS } from '../src/idempotency/create-once.ts';

/** The accepted pattern, without its `^` and `$`. */
const BOOKMARK_PATTERN = ACCEPTED_BOOKMARK.source.slice(1, -1);
const BOOKMARK_OR_START = `^(${[...SESSION_STARTS, BOOKMARK_PATTERN].join('|')})$`;

export const Bookmark = z
  .optional(
    z.string().check(z.minLength(1), z.maxLength(256), z.regex(new RegExp(BOOKMARK_OR_START))),
  )
  .register(z.globalRegistry, {
    param: {
      id: 'Bookmark',
      description:
        'Runs the request in a session: the nearest replica with at least the state of the bookmark may serve a read. Must be `first-unconstrained`, `first-primary`, or a bookmark from an earlier response. Without the header, the request runs on the primary (read-your-writes).',
    },
  });

const QUOTED_KEY = `"[ -~]{1,${MAX_IDEMPOTENCY_KEY_LENGTH}}"`;
// Neither end is a space, because HTTP removes spaces around a value.
const UNQUOTED_KEY = `[!-~]([ -~]{0,${MAX_IDEMPOTENCY_KEY_LENGTH - 2}}[!-~])?`;
// Rejects empty quotes, and a comma followed by a space, which the runtime writes between repeated headers.
const IDEMPOTENCY_KEY = `^(?!""$)(?!.*, )(${QUOTED_KEY}|${UNQUOTED_KEY})$`;
const MAX_QUOTED_LENGTH = MAX_IDEMPOTENCY_KEY_LENGTH + '""'.length;

export const IdempotencyKey = z
  .optional(
    z
      .string()
      .check(z.minLength(1), z.maxLength(MAX_QUOTED_LENGTH), z.regex(new RegExp(IDEMPOTENCY_KEY))),
  )
  .register(z.globalRegistry, {
    param: {
      id: 'IdempotencyKey',
      description: `Makes a retry safe: a request with the same key and body within ${KEPT_HOURS} hours gets the first 201 again. A UUID is a good key. 1 to ${MAX_IDEMPOTENCY_KEY_LENGTH} printable ASCII characters; quotes around them are ignored. Empty quotes are rejected, and so is a comma followed by a space, which is how repeated headers arrive.`,
    },
  });
