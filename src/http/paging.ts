/**
 * Lists in pages: `limit`, `cursor` and the list's filters in the query, the next page in the `Link` header
 * (RFC 8288). Keyset paging by ascending id: a page deep in the list costs what the first one does.
 */
import type { Context } from 'hono';
import * as z from 'zod/mini';
import type { Database } from '../database.ts';
import type { AppEnv } from '../env.ts';
import { type Cursor, decodeCursor, encodeCursor } from './cursor.ts';
import { json, urlOf } from './responses.ts';

export const LIMIT = { minimum: 1, maximum: 100, default: 20 };
export const LIMIT_PROBLEM = `must be an integer from ${LIMIT.minimum} to ${LIMIT.maximum}`;
const CURSOR_PROBLEM = 'is not a cursor of this list (follow the Link header of the page before)';

/** Ids ascend from 1, but an operator can insert any int64. */
const LEAST_ID = -(2n ** 63n);

export const Limit = z._default(
  z.pipe(
    z.string(LIMIT_PROBLEM).check(z.regex(/^[0-9]+$/, LIMIT_PROBLEM)),
    z.pipe(
      z.transform(Number),
      z
        .number(LIMIT_PROBLEM)
        .check(z.minimum(LIMIT.minimum, LIMIT_PROBLEM), z.maximum(LIMIT.maximum, LIMIT_PROBLEM)),
    ),
  ),
  LIMIT.default,
);

/** The `cursor` of a list. Its scope begins with `prefix`, and goes on with the value of the filter. */
function cursorOf(prefix: string) {
  return z.pipe(
    z.string('must be a cursor'),
    z.transform((text: string, context): Cursor => {
      const cursor = decodeCursor(text);
      if (cursor?.scope.startsWith(prefix)) {
        const filter = cursor.scope.slice(prefix.length);
        if (!filter.includes('/')) return cursor;
      }
      context.issues.push({ code: 'custom', message: CURSOR_PROBLEM, input: text });
      return z.NEVER;
    }),
  );
}

/**
 * The query of a list that can be filtered by `status`, and the scope of its cursors. `name` keeps the
 * cursors of different lists apart; that of the animals is empty, as it was in version 1.0.0.
 */
export function pagedList<Status extends z.ZodMiniType<string>>(name: string, status: Status) {
  const prefix = name === '' ? '' : `${name}/`;
  const scopeOf = (value: string | undefined) => prefix + (value ?? '');
  const query = z
    .strictObject({
      limit: Limit,
      status: z.optional(status),
      cursor: z.optional(cursorOf(prefix)),
    })
    .check(
      z.refine(({ cursor, status }) => !cursor || cursor.scope === scopeOf(status), {
        path: ['cursor'],
        error: 'was made for another status filter',
      }),
    );
  return { query, scopeOf };
}

export type PageQuery = { limit: number; status?: string | undefined; cursor?: Cursor | undefined };

export type PageRow = {
  /** The items, a JSON array. */
  items: string;
  /** Id of the last of them, decimal, if there are more after it; else `null`. */
  more_after: string | null;
};

/**
 * Selects a page of a table by ascending `id`, optionally of one `status`, as one row. `item` is the SQL
 * expression of an item's JSON. Reads at most `limit` + 1 rows, with an index on `status`.
 */
export function selectPage(
  db: Database,
  { table, item }: { table: string; item: string },
  { limit, status, cursor }: PageQuery,
): Promise<D1Result<PageRow>> {
  const from = cursor ? cursor.lastId + 1n : LEAST_ID;
  // Two statements: `?3 IS NULL OR status = ?3` would not use the index.
  const filter = status === undefined ? '' : 'status = ?3 AND';
  // An aggregate takes the rows as its subquery orders them; with an order of its own, SQLite would
  // read each of them twice.
  const statement = db.prepare(
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
  );
  const values = status === undefined ? [`${from}`, limit] : [`${from}`, limit, status];
  return statement.bind(...values).all<PageRow>();
}

/** Responds with a page, and with the link to the next one. `scope` is that of the list's cursors. */
export function sendPage(
  c: Context<AppEnv>,
  scope: string,
  { limit, status }: PageQuery,
  { results: [page] }: D1Result<PageRow>,
): Response {
  if (!page) throw new Error('the list returned no row');
  if (page.more_after !== null) {
    // Nothing in it needs an escape: a number, a value of the enum, and base64url.
    const filter = status ? `&status=${status}` : '';
    const next = encodeCursor({ scope, lastId: BigInt(page.more_after) });
    c.header('Link', `<${urlOf(c)}?limit=${limit}${filter}&cursor=${next}>; rel="next"`);
  }
  return json(c, page.items);
}
