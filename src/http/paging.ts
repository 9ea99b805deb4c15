/**
 * Paged lists: `limit`, `after` and filters in the query, the next page in the `Link` header (RFC 8288). Keyset
 * pagination by ascending id, so every page costs the same.
 */
import type { Context } from 'hono';
import * as z from 'zod/mini';
import type { AppEnv } from '../context.ts';
import { type Statement, statement, type Value } from '../d1/run.ts';
import { Int64Text } from './int64.ts';
import { requestUrl, sendBody } from './responses.ts';
import { strictParameters } from './validate.ts';

export const LIMIT = { minimum: 1, maximum: 100, default: 20 };
const LIMIT_PROBLEM = `must be an integer from ${LIMIT.minimum} to ${LIMIT.maximum}`;

const LimitText = z.codec(
  z.string(LIMIT_PROBLEM).check(z.regex(/^[0-9]+$/, LIMIT_PROBLEM)),
  z
    .number(LIMIT_PROBLEM)
    .check(z.minimum(LIMIT.minimum, LIMIT_PROBLEM), z.maximum(LIMIT.maximum, LIMIT_PROBLEM)),
  { decode: Number, encode: String },
);
export const Limit = z._default(LimitText, LIMIT.default);

/** The id after which the page begins, as Stripe's `starting_after`. Without it, the list begins at the smallest id. */
export const After = z.optional(Int64Text);

type Filter = z.ZodMiniOptional<z.ZodMiniType<string>>;

/** The query of a paged list. Each filter compares the column of its name with a value. */
export function pageParameters<Filters extends Record<string, Filter>>(filters: Filters) {
  return strictParameters({ limit: Limit, ...filters, after: After });
}

/** A validated query of a list: `limit`, `after`, and the values of the filters. */
export type PageParameters = {
  limit: number;
  after?: bigint | undefined;
  [filter: string]: unknown;
};

type PageRow = {
  /** The items, a JSON array. */
  items: string;
  /** Id of the last item, in decimal, if more items follow; else `null`. */
  next_after: string | null;
};

/**
 * Selects a page of a table by ascending `id`, as one row. `item` is the SQL expression of an item's JSON. Reads at most
 * `limit` + 1 rows, if there is at most one filter, on an indexed column. The second page of sold animals, for example:
 *
 *     WITH
 *       page AS (
 *         SELECT id, json_object('id', id, …) AS item FROM pets
 *         WHERE status = +?2 AND id > CAST(?3 AS INTEGER) ORDER BY id LIMIT +?1
 *       ),
 *       whole AS (
 *         SELECT '[' || ifnull(group_concat(item, ','), '') || ']' AS items, max(id) AS last FROM page
 *       )
 *     SELECT items,
 *       CASE WHEN EXISTS (SELECT 1 FROM pets WHERE status = +?2 AND id > last)
 *         THEN CAST(last AS TEXT) END AS next_after
 *     FROM whole
 *
 * The query plan may depend on the value of a parameter, and then SQLite compiles the statement for each request. With
 * `+` before the parameter it compiles once, which takes less CPU: https://sqlite.org/c3ref/prepare.html
 *
 * SQLite aggregates the page, because rows read into JavaScript and joined there take up to half as long again.
 */
export function selectPage(
  { table, item }: { table: string; item: string },
  parameters: PageParameters,
): Statement<PageRow> {
  const values: Value[] = [parameters.limit];
  const conditions: string[] = [];
  // Columns are names in the strict schema, never text of the request.
  for (const { column, value } of filtersOf(parameters)) {
    values.push(value);
    conditions.push(`${column} = +?${values.length}`);
  }
  const hasMore = [...conditions, 'id > last'].join(' AND ');
  if (parameters.after !== undefined) {
    values.push(`${parameters.after}`);
    conditions.push(`id > CAST(?${values.length} AS INTEGER)`);
  }
  const where = conditions.length > 0 ? `WHERE ${conditions.join(' AND ')}` : '';
  // The aggregate has the order of the page. With an ORDER BY of its own, SQLite would read each row twice.
  return statement(
    `WITH
       page AS (
         SELECT id, ${item} AS item FROM ${table} ${where} ORDER BY id LIMIT +?1
       ),
       whole AS (
         SELECT '[' || ifnull(group_concat(item, ','), '') || ']' AS items, max(id) AS last FROM page
       )
     SELECT items,
       CASE WHEN EXISTS (SELECT 1 FROM ${table} WHERE ${hasMore})
         THEN CAST(last AS TEXT) END AS next_after
     FROM whole`,
    ...values,
  );
}

/** The parameters of every list. All others are filters. */
const PAGE_PARAMETERS = ['limit', 'after'];

/** The filters that the request gives. */
function filtersOf(parameters: PageParameters): { column: string; value: string }[] {
  const given: { column: string; value: string }[] = [];
  for (const [column, value] of Object.entries(parameters)) {
    const isFilter = !PAGE_PARAMETERS.includes(column) && value !== undefined;
    if (isFilter) given.push({ column, value: String(value) });
  }
  return given;
}

/** Responds with a page and, unless it is the last, a `Link` to the next page. */
export function sendPage(
  c: Context<AppEnv>,
  parameters: PageParameters,
  page: PageRow | undefined,
): Response {
  if (!page) throw new Error('the list returned no row');
  if (page.next_after !== null) {
    const search = new URLSearchParams({ limit: String(parameters.limit) });
    for (const { column, value } of filtersOf(parameters)) search.append(column, value);
    search.append('after', page.next_after);
    c.header('Link', `<${requestUrl(c)}?${search}>; rel="next"`);
  }
  return sendBody(c, page.items);
}
