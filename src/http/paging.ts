/**
 * Paged lists: `limit`, `cursor` and filters in the query, the next page in the `Link` header (RFC 8288). Keyset
 * pagination by ascending id, so every page costs the same.
 */
import type { Context } from 'hono';
import * as z from 'zod/mini';
import type { Database } from '../database.ts';
import type { AppEnv } from '../env.ts';
import { lazy } from '../lazy.ts';
import { type Cursor, decodeCursor, encodeCursor } from './cursor.ts';
import { respond, urlOf } from './responses.ts';
import { textSchema } from './text.ts';

export const LIMIT = { minimum: 1, maximum: 100, default: 20 };
export const LIMIT_PROBLEM = `must be an integer from ${LIMIT.minimum} to ${LIMIT.maximum}`;
const CURSOR_PROBLEM = 'must be a cursor from the Link header of this list';

/** The service assigns ids from 1, but an operator can insert any int64. */
const MIN_ID = -(2n ** 63n);

export const Limit = lazy(() =>
  z._default(
    textSchema(LIMIT_PROBLEM, (text) => {
      const limit = /^[0-9]+$/.test(text) ? Number(text) : 0;
      return limit >= LIMIT.minimum && limit <= LIMIT.maximum ? limit : undefined;
    }),
    LIMIT.default,
  ),
);

/** The schema of a list's `cursor`. Its scope is `prefix` and the values of the filters. */
function cursorSchema(prefix: string) {
  return textSchema(CURSOR_PROBLEM, (text) => {
    const cursor = decodeCursor(text);
    if (!cursor?.scope.startsWith(prefix)) return undefined;
    return cursor.scope.includes('/', prefix.length) ? undefined : cursor;
  });
}

/** A list, as its queries and cursors need it. */
export type PagedList = {
  /** Names of the filters, which are query parameters. */
  filters: string[];
  /** The scope of a query's cursors: they are valid only within it. */
  scopeOf(query: Fields): string;
};

/** A validated query: `limit`, `cursor`, and the values of the filters. */
export type PageQuery = { limit: number; cursor?: Cursor | undefined; [filter: string]: unknown };

type Fields = Readonly<Record<string, unknown>>;

/** Whether a query has no cursor, or one that was made for its filters. */
function hasScope(query: Fields, scopeOf: PagedList['scopeOf']): boolean {
  const { cursor } = query;
  // An invalid cursor is reported by its own schema.
  if (typeof cursor !== 'object' || cursor === null || !('scope' in cursor)) return true;
  return cursor.scope === scopeOf(query);
}

/**
 * Defines a list whose filters compare a field with a value. `name` separates the cursors of different lists. The list
 * of pets has an empty name, which keeps the cursors of version 1.0.0 valid.
 */
export function pagedList<Filters extends Record<string, z.ZodMiniOptional<z.ZodMiniType<string>>>>(
  name: string,
  filters: (keyof Filters & string)[],
  schemas: () => Filters,
) {
  const prefix = name === '' ? '' : `${name}/`;
  const scopeOf = (query: Fields) => prefix + filters.map((each) => query[each] ?? '').join(',');
  const query = lazy(() =>
    z
      .strictObject({ limit: Limit(), ...schemas(), cursor: z.optional(cursorSchema(prefix)) })
      .check(({ value, issues }) => {
        if (hasScope(value, scopeOf)) return;
        const message = `must be used with the ${filters.join(' and ')} filter that it was made for`;
        issues.push({ code: 'custom', message, path: ['cursor'], input: value });
      }),
  );
  return { query, filters, scopeOf } satisfies PagedList & { query: unknown };
}

export type PageRow = {
  /** The items, a JSON array. */
  items: string;
  /** Id of the last item, in decimal, if more items follow; else `null`. */
  more_after: string | null;
};

/**
 * Selects a page of a table by ascending `id`, as one row. `item` is the SQL expression of an item's JSON, `columns`
 * maps filters to columns. Reads at most `limit` + 1 rows, if each filter has an index.
 */
export function selectPage(
  db: Database,
  { table, item, columns = {} }: { table: string; item: string; columns?: Record<string, string> },
  query: PageQuery,
): Promise<D1Result<PageRow>> {
  const from = query.cursor ? query.cursor.lastId + 1n : MIN_ID;
  // One statement for each set of filters, because `?3 IS NULL OR status = ?3` would not use the index.
  const given = Object.entries(columns).filter(([name]) => query[name] !== undefined);
  // With a bare parameter after LIMIT or in a filter, workerd's SQLite compiles the statement again for each request:
  // the planner may depend on its value (https://sqlite.org/c3ref/prepare.html). It does not depend on that of `+?2`.
  const filter = given.map(([, column], i) => `${column} = +?${i + 3} AND`).join(' ');
  // The aggregate has the order of its subquery. With an ORDER BY of its own, SQLite would read each row twice.
  return db
    .prepare(
      `SELECT items,
         CASE WHEN EXISTS (SELECT 1 FROM ${table} WHERE ${filter} id > last)
           THEN CAST(last AS TEXT) END AS more_after
       FROM (
         SELECT '[' || ifnull(group_concat(item, ','), '') || ']' AS items, max(id) AS last
         FROM (
           SELECT id, ${item} AS item FROM ${table}
           WHERE ${filter} id >= CAST(?1 AS INTEGER) ORDER BY id LIMIT +?2
         )
       )`,
    )
    .bind(`${from}`, query.limit, ...given.map(([name]) => query[name]))
    .all<PageRow>();
}

/** Responds with a page and, unless it is the last, a `Link` to the next page. */
export function sendPage(
  c: Context<AppEnv>,
  { filters, scopeOf }: PagedList,
  query: PageQuery,
  { results: [page] }: D1Result<PageRow>,
): Response {
  if (!page) throw new Error('the list returned no row');
  if (page.more_after !== null) {
    const given = filters.filter((name) => query[name] !== undefined);
    const filter = given
      .map((name) => `&${name}=${encodeURIComponent(String(query[name]))}`)
      .join('');
    const next = encodeCursor({ scope: scopeOf(query), lastId: BigInt(page.more_after) });
    const url = `${urlOf(c)}?limit=${query.limit}${filter}&cursor=${next}`;
    c.get('headers').Link = `<${url}>; rel="next"`;
  }
  return respond(c, 200, page.items);
}
