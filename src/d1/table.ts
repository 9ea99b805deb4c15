/** Pages of a table as JSON, and rows to insert into it. */
import { type JsonText, Sql, sql } from './sql.ts';

/** A table with the column `id`. */
export type Table<Item, Column extends string = string> = {
  name: Sql;
  /** The columns that a create sets. The others have a default. */
  columns: readonly Column[];
  /** The SQL expression of a row as JSON, an `Item` with the member `id`. */
  json: Sql<JsonText<Item>>;
};

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

/** A row that a create inserted: its id in decimal, and its JSON. */
export type CreatedRow<Item> = { id: string; json: JsonText<Item> };

/** A row to insert, as parts of SQL, and what else its create does. `createOnce` puts them into statements. */
export type Create<Item, Row> = ReturnType<typeof insertInto<Item, string, Row>>;

/**
 * Describes a create, with a value for each column that the table lists. The column names are those of the table: other members of
 * `values`, whose names could come from a client, are ignored.
 *
 * @example
 * insertInto(PETS, { name: 'Rex', category_id: 3n, status: null })
 */
export function insertInto<Item, Column extends string, Row>(
  { name, columns, json }: Table<Item, Column>,
  values: Record<Column, string | bigint | null>,
  {
    reserve,
    skipsConflict,
  }: {
    /**
     * Changes a row before the insert: `update` is an UPDATE without its WHERE. If no row meets `where`, nothing is inserted, and
     * `read` is a SELECT of the reason.
     */
    reserve?: { update: Sql; where: Sql; read: Sql<Row> };
    /**
     * If the row violates a unique index, it is not inserted, and the reservation stays. By default, that is an error, which undoes
     * the reservation.
     */
    skipsConflict?: boolean;
  } = {},
) {
  return {
    name,
    idAndJson: sql<CreatedRow<Item>>`CAST(id AS TEXT) AS id, ${json} AS json`,
    target: sql`${name} (${new Sql(columns.join(', '), [])})`,
    values: columns
      .map((column) => sql`${values[column]}`)
      .reduce((list, value) => sql`${list}, ${value}`),
    onConflict: skipsConflict ? sql`ON CONFLICT DO NOTHING` : sql``,
    reserve,
  };
}
