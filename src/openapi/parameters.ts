/** The request headers that operations share. */
import { TOKEN } from '../http/bookmark.ts';
import { KEPT_HOURS, MAX_LENGTH } from '../idempotency/header.ts';

export const BOOKMARK_PARAMETER = {
  name: 'X-D1-Bookmark',
  in: 'header',
  description:
    'Runs the request in a session: a read may be answered by the nearest replica that has at least that state. `first-unconstrained`, `first-primary`, or the bookmark of an earlier response. Without it, the request runs on the primary (read-your-writes).',
  schema: { type: 'string', pattern: TOKEN.source },
} as const;

export const IDEMPOTENCY_KEY_PARAMETER = {
  name: 'Idempotency-Key',
  in: 'header',
  description: `A name for this request, so that repeating it does not repeat its effect: within ${KEPT_HOURS} hours the first answer comes again. 1 to ${MAX_LENGTH} printable ASCII characters; quotes around them are ignored. A comma followed by a space is refused: repeated headers look the same.`,
  schema: { type: 'string', minLength: 1, maxLength: MAX_LENGTH + 2, pattern: '^[ -~]+$' },
  example: '"6b1f6f0e-2f0b-4a86-9a55-0f8f3a5a3a11"',
} as const;
