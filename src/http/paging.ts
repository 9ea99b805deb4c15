/**
 * Paged lists: `limit`, `cursor` and filters in the query, the next page in the `Link` header (RFC 8288). Keyset
 * pagination by ascending id, so every page costs the same.
 */
import type { Context } from 'hono';
import * as z from 'zod/mini';
import type { Database } from '../d1/database.ts';
import type { AppEnv } from '../env.ts';
import { lazy } from '../lazy.ts';
import { type Cursor, decodeCursor, encodeCursor } from './cursor.ts';
import { requestUrl, sendJson } from './responses.ts';
import { textSchema } from './text.ts';

export const LIMIT = { minimum: 1, maximum: 100, default: 20 };
const LIMIT_PROBLEM = `must be an integer from ${LIMIT.minimum} to ${LIMIT.maximum}`;
const CURSOR_PROBLEM = 'must be a cursor from the Link header of this list';

/** The service assigns ids from 1, but an operator can insert any int64. */
const MIN_ID = `${-(2n ** 63n)}`;
const MAX_ID = `${2n ** 63n - 1n}`;

export const Limit = lazy(() =>
  z._default(
    textSchema({
      problem: LIMIT_PROBLEM,
      parse: (text) => {
        const limit = Number(text);
        const isValid = /^[0-9]+$/.test(text) && limit >= LIMIT.minimum && limit <= LIMIT.maximum;
        return isValid ? limit : undefined;
      },
    }),
    LIMIT.default,
  ),
);

/** A validated query: `limit`, `cursor`, and the values of the filters. */
export type PageQuery = { limit: number; cursor?: Cursor | undefined; [filter: string]: unknown };

/** A paged list. Its cursors contain its name, so that they are invalid for other lists. */
type PagedList = { name: string; query: () => z.ZodMiniObject };

/** Defines a paged list and its query. Each filter compares a field with a value. */
export function pagedList<Filters extends Record<string, z.ZodMiniOptional<z.ZodMiniType<string>>>>(
  name: string,
  filters: () => Filters,
) {
  const query = lazy(() => {
    const schemas = filters();
    const cursorSchema = textSchema({
      problem: CURSOR_PROBLEM,
      parse: (text) => {
        const cursor = decodeCursor(text);
        // No item follows the largest id.
        const isOfThisList = cursor?.list === name && cursor.lastId !== MAX_ID;
        return isOfThisList ? cursor : undefined;
      },
    });
    return z
      .strictObject({ limit: Limit(), ...schemas, cursor: z.optional(cursorSchema) })
      .check(({ value, issues }) => {
        const { cursor }: Record<string, unknown> = value;
        // There is no cursor, or it is invalid: `textSchema` has reported that, and lets other checks run.
        if (typeof cursor !== 'object' || cursor === null || !('filters' in cursor)) return;
        if (cursor.filters === filterText(value)) return;
        const names = Object.keys(schemas).join(' and ');
        const message = `must be used with the ${names} filter that it was made for`;
        issues.push({ code: 'custom', message, path: ['cursor'], input: value });
      });
  });
  return { name, query } satisfies PagedList;
}

/** The filters of a query as a query string, such as `status=sold`. */
function filterText(query: Record<string, unknown>): string {
  return Object.entries(query)
    .filter(([name, value]) => name !== 'limit' && name !== 'cursor' && value !== undefined)
    .map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`)
    .join('&');
}

export type PageRow = {
  /** The items, a JSON array. */
  items: string;
  /** Id of the last item, in decimal, if more items follow; else `null`. */
  more_after: string | null;
};

/**
 * Selects a page of a table by ascending `id`, as one row. `item` is the SQL expression of an item's JSON, `filters` are
 * the columns that the query can filter by. Reads at most `limit` + 1 rows, if every filter column has an index.
 */
export function selectPage(
  db: Database,
  { table, item, filters }: { table: string; item: string; filters: string[] },
  query: PageQuery,
): Promise<D1Result<PageRow>> {
  const from = query.cursor ? `${BigInt(query.cursor.lastId) + 1n}` : MIN_ID;
  // One statement for each set of filters, because `?3 IS NULL OR status = ?3` would not use the index.
  const given = filters.filter((column) => query[column] !== undefined);
  // With `+` before a parameter, SQLite reuses the compiled statement. Without it, the query plan may depend on the
  // parameter's value, and SQLite compiles the statement for each request: https://sqlite.org/c3ref/prepare.html
  const whereFilters = ['TRUE', ...given.map((column, i) => `${column} = +?${i + 3}`)].join(
    ' AND ',
  );
  // The aggregate has the order of its subquery. With an ORDER BY of its own, SQLite would read each row twice.
  return db
    .prepare(
      `SELECT items,
         CASE WHEN EXISTS (SELECT 1 FROM ${table} WHERE ${whereFilters} AND id > last)
           THEN CAST(last AS TEXT) END AS more_after
       FROM (
         SELECT '[' || ifnull(group_concat(item, ','), '') || ']' AS items, max(id) AS last
         FROM (
           SELECT id, ${item} AS item FROM ${table}
           WHERE ${whereFilters} AND id >= CAST(?1 AS INTEGER) ORDER BY id LIMIT +?2
         )
       )`,
    )
    .bind(from, query.limit, ...given.map((column) => query[column]))
    .all();
}

/** Responds with a page and, unless it is the last, a `Link` to the next page. */
export function sendPage(
  c: Context<AppEnv>,
  { name: list }: PagedList,
  query: PageQuery,
  page: PageRow | undefined,
): Response {
  if (!page) throw new Error('the list returned no row');
  if (page.more_after !== null) {
    const filters = filterText(query);
    const cursor = encodeCursor({ list, lastId: page.more_after, filters });
    const parameters = [`limit=${query.limit}`, filters, `cursor=${cursor}`].filter(Boolean);
    c.header('Link', `<${requestUrl(c)}?${parameters.join('&')}>; rel="next"`);
  }
  return sendJson(c, page.items);
}
