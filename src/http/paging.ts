/**
 * Paged lists: `limit`, `after` and filters in the query of a request, and the next page in the `Link` header of the response
 * (RFC 8288).
 */
import * as z from 'zod/mini';
import type { AuthenticatedContext } from '../context.ts';
import { int64Text } from './int64.ts';
import { strictParameters } from './schemas.ts';
import { collectionUrl } from './urls.ts';

export const LIMIT = { minimum: 1, maximum: 100, default: 20 };
const LIMIT_PROBLEM = `must be an integer from ${LIMIT.minimum} to ${LIMIT.maximum}`;

/**
 * Not `z.coerce`, which also accepts `1e1`, `0x10` and spaces; nor `z.minimum`, `z.maximum` and `z._default`, which would add 1 % to
 * the worker.
 */
export const Limit = z.codec(
  z.optional(z.string(LIMIT_PROBLEM).check(z.regex(/^\d+$/, LIMIT_PROBLEM))),
  z.number(LIMIT_PROBLEM).check(z.refine(isInRange, LIMIT_PROBLEM)),
  { decode: (text) => Number(text ?? LIMIT.default), encode: String },
);

function isInRange(limit: number): boolean {
  return limit >= LIMIT.minimum && limit <= LIMIT.maximum;
}

/** The page begins after this id, as with Stripe's `starting_after`. Without it, the list begins at the smallest id. */
export const After = z.optional(int64Text());

type Filter = z.ZodMiniOptional<z.ZodMiniType<string | bigint>>;

/** The query parameters of a paged list. */
export function pageParameters<Filters extends Record<string, Filter>>(filters: Filters) {
  return strictParameters({ limit: Limit, ...filters, after: After });
}

/** The validated query of a list: `limit`, and the other parameters that the request gives. */
type PageQuery = { limit: number; [parameter: string]: number | bigint | string | undefined };

/**
 * The page of a list. Asks it for one item more, which shows that another page follows: then the response gets a `Link` to it, the
 * same query with the next `after`.
 */
export async function takePage<Item extends { id: bigint }, Query extends PageQuery>(
  c: AuthenticatedContext,
  query: Query,
  list: (c: AuthenticatedContext, query: Query) => Promise<Item[]>,
): Promise<Item[]> {
  const items = await list(c, { ...query, limit: query.limit + 1 });
  const page = items.slice(0, query.limit);
  const last = page.at(-1);
  if (last && items.length > page.length) {
    const parameters = new URLSearchParams();
    for (const [name, value] of Object.entries({ ...query, after: last.id }))
      if (value !== undefined) parameters.append(name, String(value));
    c.header('Link', `<${collectionUrl(c)}?${parameters}>; rel="next"`);
  }
  return page;
}
