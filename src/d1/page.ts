/** Rows of a table as JSON: pages by ascending id, and the row that was inserted. */
import { type JsonText, type Sql, sql } from './sql.ts';

/** A table with the column `id`, and the SQL expression of a row as JSON, an `Item` with the member `id`. */
export type Table<Item> = { name: Sql; json: Sql<JsonText<Item>> };

/** The page to select: at most `limit` rows, with ids greater than `after` if it is given. */
export type PageParameters = { limit: number; after?: bigint | undefined };

export type PageRow<Item> = {
  /** The rows, as a JSON array. */
  json: JsonText<Item[]>;
  /** Id of the last item, in decimal, if more items follow; else `null`. */
  next_after: string | null;
};

/** A filter of a list: the column has this value. Without a value, every row passes. */
export function equalsIfGiven(column: Sql, value: string | bigint | undefined): Sql {
  return value === undefined ? sql`TRUE` : sql`${column} = ${value}`;
}

/**
 * Selects a page as one row. Keyset pagination: a page deep in the list costs no more than the first. Reads at most `limit` + 1
 * rows of the table, if `filter` is TRUE or compares one indexed column. SQLite aggregates the page, because joining the rows in
 * JavaScript takes up to 45 % more CPU time.
 */
export function selectPage<Item>(
  { name, json }: Table<Item>,
  { limit, after }: PageParameters,
  filter: Sql,
): Sql<PageRow<Item>> {
  const isLater = after === undefined ? sql`TRUE` : sql`id > ${after}`;
  // group_concat gets the items in the order of `page`. SQLite does not promise that; test/resources/lists.test.ts checks it. With
  // an ORDER BY inside group_concat, SQLite would read each row twice. json_group_array would parse each item again, and takes
  // about twice as long.
  // EXISTS is false for an empty page, because its `last` is NULL.
  return sql`WITH
      page AS (
        SELECT id, ${json} AS item FROM ${name} WHERE ${filter} AND ${isLater} ORDER BY id LIMIT ${limit}
      ),
      joined AS (
        SELECT '[' || ifnull(group_concat(item, ','), '') || ']' AS json, max(id) AS last FROM page
      )
    SELECT json,
      CASE WHEN EXISTS (SELECT 1 FROM ${name} WHERE ${filter} AND id > joined.last)
        THEN CAST(last AS TEXT) END AS next_after
    FROM joined`;
}

/**
 * Selects the row that the statement directly before has inserted, if it has: a SELECT changes neither changes() nor
 * last_insert_rowid() (https://sqlite.org/lang_corefunc.html#changes).
 */
export function selectInserted<Item>({
  name,
  json,
}: Table<Item>): Sql<{ id: string; json: JsonText<Item> }> {
  return sql`SELECT CAST(id AS TEXT) AS id, ${json} AS json FROM ${name}
    WHERE id = last_insert_rowid() AND changes() = 1`;
}
