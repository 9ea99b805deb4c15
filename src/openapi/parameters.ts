/** The request headers that operations share, for `components/parameters`. */
import { KEPT_HOURS, MAX_LENGTH } from '../idempotency/header.ts';
import { BOOKMARK_SCHEMA } from './headers.ts';

export const PARAMETERS = {
  Bookmark: {
    name: 'X-D1-Bookmark',
    in: 'header',
    description:
      'Runs the request in a session: a read may be answered by the nearest replica that has at least that state. `first-unconstrained`, `first-primary`, or the bookmark of an earlier response. Without it, the request runs on the primary (read-your-writes).',
    schema: BOOKMARK_SCHEMA,
  },
  IdempotencyKey: {
    name: 'Idempotency-Key',
    in: 'header',
    description: `Makes a retry safe: a request with the same key and body within ${KEPT_HOURS} hours gets the first response again. A UUID is a good key. 1 to ${MAX_LENGTH} printable ASCII characters; quotes around them are ignored. Nothing between quotes is refused, and so is a comma followed by a space: repeated headers look the same.`,
    schema: {
      type: 'string',
      minLength: 1,
      maxLength: MAX_LENGTH + 2,
      pattern: `^("[ -~]{1,${MAX_LENGTH}}"|[ -~]{1,${MAX_LENGTH}})$`,
    },
  },
} as const;

/** A reference to a shared parameter. */
export function parameter(name: keyof typeof PARAMETERS): { $ref: string } {
  return { $ref: `#/components/parameters/${name}` };
}
