/** Pages of a table, by ascending id. Keyset pagination: every page costs the same, however deep in the list it is. */
import { type Sql, sql } from './sql.ts';

/** A table, and the SQL expression of a row as JSON. */
export type Table = { name: Sql; json: Sql };

/** The first `limit` rows behind the id `after`, or of the whole table. */
export type Page = { limit: number; after?: bigint | undefined };

export type PageRow = {
  /** The items, a JSON array. */
  items: string;
  /** Id of the last item, in decimal, if more items follow; else `null`. */
  next_after: string | null;
};

/**
 * A filter of a list: the column has this value. `undefined` if the request does not filter by it.
 *
 * The query plan may depend on the value of a parameter that is compared with an indexed column, and then SQLite compiles the
 * statement for each request. With `+` before the parameter it compiles once: https://sqlite.org/c3ref/prepare.html
 */
export function equals(column: Sql, value: string | bigint | undefined): Sql | undefined {
  return value === undefined ? undefined : sql`${column} = +${value}`;
}

/**
 * Selects a page as one row. Reads at most `limit` + 1 rows of the table, if there is at most one filter, on an indexed
 * column. SQLite aggregates the page, because rows read into JavaScript and joined there take up to half as long again.
 */
export function selectPage(
  { name, json }: Table,
  { limit, after }: Page,
  filters: (Sql | undefined)[],
): Sql<PageRow> {
  const given = filters.filter((filter) => filter !== undefined);
  const onPage = after === undefined ? given : [...given, sql`id > ${after}`];
  const behindPage = [...given, sql`id > last`];
  // group_concat has the order of the page. With an ORDER BY of its own, SQLite would read each row twice.
  return sql`WITH
      page AS (SELECT id, ${json} AS item FROM ${name} ${where(onPage)} ORDER BY id LIMIT +${limit}),
      whole AS (
        SELECT '[' || ifnull(group_concat(item, ','), '') || ']' AS items, max(id) AS last FROM page
      )
    SELECT items,
      CASE WHEN EXISTS (SELECT 1 FROM ${name} ${where(behindPage)}) THEN CAST(last AS TEXT) END AS next_after
    FROM whole`;
}

/** A WHERE clause with all the conditions; empty if there is none. */
function where(conditions: Sql[]): Sql {
  const [first, ...others] = conditions;
  if (!first) return sql``;
  return others.reduce((clause, condition) => sql`${clause} AND ${condition}`, sql`WHERE ${first}`);
}
