/**
 * Paged lists: `limit`, `after` and filters in the query of a request, and the next page in the `Link` header of the response
 * (RFC 8288).
 */
import type { Context } from 'hono';
import * as z from 'zod/mini';
import type { AuthenticatedEnv } from '../context.ts';
import type { PageParameters, PageRow } from '../d1/table.ts';
import { int64Text } from './int64.ts';
import { collectionUrl, sendJson } from './responses.ts';
import { strictParameters } from './schemas.ts';

export const LIMIT = { minimum: 1, maximum: 100, default: 20 };
const LIMIT_PROBLEM = `must be an integer from ${LIMIT.minimum} to ${LIMIT.maximum}`;

/** Not `z.coerce`, which also accepts `1e1`, `0x10` and spaces. */
const LimitText = z.codec(
  z.string(LIMIT_PROBLEM).check(z.regex(/^[0-9]+$/, LIMIT_PROBLEM)),
  z
    .number(LIMIT_PROBLEM)
    .check(z.minimum(LIMIT.minimum, LIMIT_PROBLEM), z.maximum(LIMIT.maximum, LIMIT_PROBLEM)),
  { decode: Number, encode: String },
);
export const Limit = z._default(LimitText, LIMIT.default);

/** The page begins after this id, as with Stripe's `starting_after`. Without it, the list begins at the smallest id. */
export const After = z.optional(int64Text());

type Filter = z.ZodMiniOptional<z.ZodMiniType<string | bigint>>;

/** The query parameters of a paged list. */
export function pageParameters<Filters extends Record<string, Filter>>(filters: Filters) {
  return strictParameters({ limit: Limit, ...filters, after: After });
}

/** Responds with a page and, unless it is the last, a `Link` to the next page: the same query, with the next `after`. */
export function sendPage<Item>(
  c: Context<AuthenticatedEnv>,
  page: PageRow<Item> | undefined,
  query: PageParameters,
) {
  // `selectPage` returns a row for an empty list, too.
  if (!page) throw new Error('the list returned no row');
  if (page.next_after === null) return sendJson(c, page.json);
  const parameters = new URLSearchParams();
  // `query` also has the filters that the request gives, which its type does not name.
  for (const [name, value] of Object.entries({ ...query, after: page.next_after }))
    parameters.append(name, String(value));
  return sendJson(c, page.json, 200, { Link: `<${collectionUrl(c)}?${parameters}>; rel="next"` });
}
