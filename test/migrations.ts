/** Whether a migration only expands the schema: the code that is served, and older code, must work on the new tables. */
import { isDeepStrictEqual } from 'node:util';
import { unstable_splitSqlQuery as splitSqlQuery } from 'wrangler';

/** Three rows for each table. The last is deleted, so that the largest id is only in `sqlite_sequence`. */
const ROWS: Record<string, string> = {
  pets: `(name, category_id, status)
    VALUES ('Rex', 9007199254740993, 'pending'), ('Mia', -1, NULL), ('Tom', 2, 'sold')`,
  orders: "(pet_id, status) VALUES (1, 'placed'), (2, 'cancelled'), (3, 'placed')",
  idempotency_keys: `(key_hash, created_at, body_hash, response)
    VALUES ('a', 0, 'b', '{}'), ('c', 0, 'd', ''), ('e', 0, 'f', '')`,
};

/** Something that is true of a table: it has a row, a column, an index, … */
type Fact = { kind: string; table: string; value: string };

/** Runs statements as a transaction of D1. */
export type Run = (statements: string[]) => Promise<{ results: Fact[] }[]>;

const FACTS = [
  'SELECT type AS kind, tbl_name AS "table", sql AS value FROM sqlite_schema',
  'SELECT \'unique index\', tbl_name, i.name FROM sqlite_schema, pragma_index_list(tbl_name) AS i WHERE "unique"',
  "SELECT 'expression', tbl_name, s.name FROM sqlite_schema AS s, pragma_index_xinfo(s.name) WHERE cid = -2",
  'SELECT \'reference\', tbl_name, lower(k."table") FROM sqlite_schema, pragma_foreign_key_list(tbl_name) AS k',
  "SELECT 'largest id', name, CAST(seq AS TEXT) FROM sqlite_sequence",
].join(' UNION ');

const COLUMNS =
  "SELECT tbl_name AS \"table\", c.name AS value FROM sqlite_schema AS s, pragma_table_info(tbl_name) AS c WHERE s.type = 'table' AND s.name <> 'sqlite_sequence'";

const REMOVALS =
  "SELECT 'DROP ' || type || ' ' || name || ';' AS value FROM sqlite_schema WHERE type IN ('table', 'view') AND name <> 'sqlite_sequence' ORDER BY type DESC";

/** Applies migrations to an emptied database, with rows in every table, and returns the problems of the last one. */
export async function problemsOf(run: Run, migrations: string[]): Promise<string[]> {
  const removals = (await select(run, REMOVALS)).map(({ value }) => value);
  await run(splitSqlQuery([...removals, ...migrations.slice(0, -1)].join('\n')));
  const columns = Map.groupBy(await select(run, COLUMNS), ({ table }) => table);
  const queries = [FACTS];
  const sampleRows: string[] = [];
  const writes: string[] = [];
  for (const [table, list] of columns) {
    const rows = ROWS[table];
    if (!rows) throw new Error(`test/migrations.ts has no rows for the table ${table}`);
    const insert = `INSERT INTO ${table} ${rows}`;
    sampleRows.push(insert, `DELETE FROM ${table} WHERE rowid = 3`);
    writes.push(`DELETE FROM ${table}`, insert);
    const values = list.map(({ value }) => `quote(${value})`).join(" || ', ' || ");
    queries.push(`SELECT 'row' AS kind, '${table}' AS "table", ${values} AS value FROM ${table}`);
  }
  await run(sampleRows);
  const before = await select(run, ...queries);
  try {
    await run(splitSqlQuery(migrations.at(-1) ?? ''));
    const after = await select(run, ...queries);
    // Served code still writes. Only then SQLite finds that a reference is to nothing, or to a column that is not unique.
    await run(writes);
    const gone = difference(before, after).filter((fact) => !hasGrown(fact, after, columns));
    const added = difference(after, before).filter((fact) => !mayBeAdded(fact, columns));
    return [...gone, ...added].map(({ kind, table, value }) => `${kind} of ${table}: ${value}`);
  } catch (error) {
    // A new constraint rejects a row or a write, or a table or a column of a query is gone.
    return [String(error)];
  }
}

async function select(run: Run, ...queries: string[]): Promise<Fact[]> {
  return (await run(queries)).flatMap(({ results }) => results);
}

const difference = (facts: Fact[], others: Fact[]) =>
  facts.filter((fact) => !others.some((other) => isDeepStrictEqual(fact, other)));

type Columns = Map<string, Fact[]>;

/** Whether a table only has more columns, which do not depend on old ones. SQLite inserts their text after the last one. */
function hasGrown({ kind, table, value }: Fact, after: Fact[], columns: Columns): boolean {
  const now = after.find((fact) => fact.kind === 'table' && fact.table === table)?.value;
  if (kind !== 'table' || !now) return false;
  let start = 0;
  while (value[start] === now[start]) start += 1;
  const end = value.slice(start);
  const added = now.slice(start, now.length - end.length).replaceAll(/'[^']*'/g, '');
  const named = columns.get(table)?.some((each) => RegExp(`\\b${each.value}\\b`, 'i').test(added));
  return now.endsWith(end) && added.startsWith(',') && !named;
}

/** A new table may have anything but a reference to an old one. An old table may only have more columns and plain indexes. */
function mayBeAdded({ kind, table, value }: Fact, old: Columns): boolean {
  if (kind === 'reference') return !old.has(value);
  if (kind === 'table' || kind === 'index') return true;
  return !old.has(table) && ['row', 'unique index', 'largest id'].includes(kind);
}
