/** Paged lists: the query of a request, and the `Link` to the next page (RFC 8288). */
import type { Context } from 'hono';
import * as z from 'zod/mini';
import type { AuthenticatedEnv } from '../context.ts';
import type { Database } from '../d1/database.ts';
import { int64Text } from './int64.ts';
import { strictParameters } from './schemas.ts';
import { baseUrl } from './urls.ts';

export const LIMIT = { minimum: 1, maximum: 100, default: 20 };
const LIMIT_PROBLEM = `must be an integer from ${LIMIT.minimum} to ${LIMIT.maximum}`;

/** Not `z.coerce`, which also accepts `1e1`, `0x10` and spaces. */
export const Limit = z.codec(
  z.optional(z.string(LIMIT_PROBLEM).check(z.regex(/^\d+$/, LIMIT_PROBLEM))),
  z.number(LIMIT_PROBLEM).check(z.refine(isInRange, LIMIT_PROBLEM)),
  { decode: (text) => Number(text ?? LIMIT.default), encode: String },
);

function isInRange(limit: number): boolean {
  return limit >= LIMIT.minimum && limit <= LIMIT.maximum;
}

/** The id after which the page begins. */
export const After = z.optional(int64Text());

export function pageParameters<Filters extends z.core.$ZodShape>(filters: Filters) {
  return strictParameters({ limit: Limit, ...filters, after: After });
}

type PageContext<Query> = Pick<Context<AuthenticatedEnv>, 'env' | 'get' | 'header'> & {
  req: { url: string; valid(target: 'query'): Query };
};
type PageQuery = { limit: number; [parameter: string]: number | bigint | string | undefined };

/**
 * Requests one extra item: if there is one, `Link` is the same query with a new `after`. `path` is
 * that of the list, without the version.
 */
export async function takePage<Item extends { id: bigint }, Query extends PageQuery>(
  c: PageContext<Query>,
  path: string,
  list: (db: Database, query: Query) => Promise<Item[]>,
): Promise<Item[]> {
  const query = c.req.valid('query');
  const items = await list(c.get('db'), { ...query, limit: query.limit + 1 });
  const page = items.slice(0, query.limit);
  const last = page.at(-1);
  if (last && items.length > page.length) {
    const parameters = new URLSearchParams();
    for (const [name, value] of Object.entries({ ...query, after: last.id }))
      if (value !== undefined) parameters.append(name, String(value));
    c.header('Link', `<${baseUrl(c)}${path}?${parameters}>; rel="next"`);
  }
  return page;
}
