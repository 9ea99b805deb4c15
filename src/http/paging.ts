/**
 * Lists in pages: `limit`, `cursor` and the list's filters in the query, the next page in the `Link` header
 * (RFC 8288). Keyset paging by ascending id: a page deep in the list costs what the first one does.
 */
import type { Context } from 'hono';
import * as z from 'zod/mini';
import type { Database } from '../database.ts';
import type { AppEnv } from '../env.ts';
import { lazy } from '../lazy.ts';
import { type Cursor, decodeCursor, encodeCursor } from './cursor.ts';
import { respond, urlOf } from './responses.ts';
import { textOf } from './text.ts';

export const LIMIT = { minimum: 1, maximum: 100, default: 20 };
export const LIMIT_PROBLEM = `must be an integer from ${LIMIT.minimum} to ${LIMIT.maximum}`;
const CURSOR_PROBLEM = 'must be a cursor from the Link header of this list';

/** Ids ascend from 1, but an operator can insert any int64. */
const LEAST_ID = -(2n ** 63n);

export const Limit = lazy(() =>
  z._default(
    textOf(LIMIT_PROBLEM, (text) => {
      const limit = /^[0-9]+$/.test(text) ? Number(text) : 0;
      return limit >= LIMIT.minimum && limit <= LIMIT.maximum ? limit : undefined;
    }),
    LIMIT.default,
  ),
);

/** The `cursor` of a list. Its scope begins with `prefix`, and goes on with the value of the filter. */
function cursorOf(prefix: string) {
  return textOf(CURSOR_PROBLEM, (text) => {
    const cursor = decodeCursor(text);
    if (!cursor?.scope.startsWith(prefix)) return undefined;
    return cursor.scope.includes('/', prefix.length) ? undefined : cursor;
  });
}

/** A list: the schema of its query, and how its pages are named. */
export type PagedList = {
  /** Names of the filters, which are query parameters. */
  filters: string[];
  /** The scope of the cursors of a query. */
  scopeOf(query: Fields): string;
};

/** A validated query: `limit`, `cursor`, and the values of the filters. */
export type PageQuery = { limit: number; cursor?: Cursor | undefined; [filter: string]: unknown };

type Fields = Readonly<Record<string, unknown>>;

/** Whether the cursor of a query, if it has one, was made for its filters. */
function hasScope(query: Fields, scopeOf: PagedList['scopeOf']): boolean {
  const { cursor } = query;
  // An invalid cursor is a problem of its own.
  if (typeof cursor !== 'object' || cursor === null || !('scope' in cursor)) return true;
  return cursor.scope === scopeOf(query);
}

/**
 * A list that can be filtered by equality with the values of a field. `name` keeps the cursors of different lists
 * apart; that of the animals is empty, as it was in version 1.0.0.
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
      .strictObject({ limit: Limit(), ...schemas(), cursor: z.optional(cursorOf(prefix)) })
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
  /** Id of the last of them, decimal, if there are more after it; else `null`. */
  more_after: string | null;
};

/**
 * Selects a page of a table by ascending `id`, as one row. `item` is the SQL expression of an item's JSON,
 * `columns` are those of the filters. Reads at most `limit` + 1 rows, if each filter has an index.
 */
export function selectPage(
  db: Database,
  { table, item, columns = {} }: { table: string; item: string; columns?: Record<string, string> },
  query: PageQuery,
): Promise<D1Result<PageRow>> {
  const from = query.cursor ? query.cursor.lastId + 1n : LEAST_ID;
  // A statement for each set of filters: `?3 IS NULL OR status = ?3` would not use the index.
  const given = Object.entries(columns).filter(([name]) => query[name] !== undefined);
  const filter = given.map(([, column], i) => `${column} = ?${i + 3} AND`).join(' ');
  // An aggregate takes the rows as its subquery orders them; with an order of its own, SQLite would
  // read each of them twice.
  return db
    .prepare(
      `SELECT items,
         CASE WHEN EXISTS (SELECT 1 FROM ${table} WHERE ${filter} id > last)
           THEN CAST(last AS TEXT) END AS more_after
       FROM (
         SELECT '[' || ifnull(group_concat(item, ','), '') || ']' AS items, max(id) AS last
         FROM (
           SELECT id, ${item} AS item FROM ${table}
           WHERE ${filter} id >= CAST(?1 AS INTEGER) ORDER BY id LIMIT ?2
         )
       )`,
    )
    .bind(`${from}`, query.limit, ...given.map(([name]) => query[name]))
    .all<PageRow>();
}

/** Responds with a page, and with the link to the next one. */
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
