/** Whether a migration only expands the schema: the code that is served, and older code, must work on the new tables. */
import { isDeepStrictEqual } from 'node:util';
import { unstable_splitSqlQuery as splitSqlQuery } from 'wrangler';

/** Two values for each type of a column. The integers are the extremes, at which functions in an index may fail. */
const VALUES: Record<string, string[]> = {
  TEXT: ["'a'", "'b'"],
  INTEGER: ['-9223372036854775808', '9223372036854775807'],
  REAL: ['-1.5', '1e308'],
  BLOB: ["x'00'", "x'ff'"],
};

/** Sample rows cannot show which rows an UPDATE or a DELETE would reach, so these statements alone are allowed. */
const ALLOWED = /^create (table|index) |^alter table \w+ add (?!constraint )/;
/** D1 cannot change or remove a CHECK, so a list of values could never grow. */
const CHECK = /\bcheck\b/;
const RULE =
  'a migration may have CREATE TABLE, CREATE INDEX, CREATE UNIQUE INDEX on its own table, and ALTER TABLE … ADD, without CHECK';

/** Something that is true of a table: it has a column, an index, … */
type Fact = { kind: string; table: string; value: string };
type Column = { table: string; name: string; type: string };
type Tables = Map<string, Column[]>;

/** Runs statements as a transaction of D1. */
export type Run = <Row>(statements: string[]) => Promise<{ results: Row[] }[]>;

const FACTS = [
  'SELECT type AS kind, tbl_name AS "table", sql AS value FROM sqlite_schema',
  "SELECT 'expression', tbl_name, s.name FROM sqlite_schema AS s, pragma_index_xinfo(s.name) WHERE cid = -2",
  'SELECT \'reference\', tbl_name, lower(k."table") FROM sqlite_schema, pragma_foreign_key_list(tbl_name) AS k',
].join(' UNION ');

const COLUMNS =
  "SELECT tbl_name AS \"table\", c.name, c.type FROM sqlite_schema AS s, pragma_table_info(tbl_name) AS c WHERE s.type = 'table' AND tbl_name <> 'sqlite_sequence'";

const REMOVALS =
  "SELECT 'DROP TABLE ' || name || ';' AS value FROM sqlite_schema WHERE type = 'table' AND name <> 'sqlite_sequence'";

/** Applies migrations to an emptied database, with rows in every table, and returns the problems of the last one. */
export async function problemsOf(run: Run, migrations: string[]): Promise<string[]> {
  const last = migrations.at(-1) ?? '';
  const refused = refusedStatements(last);
  if (refused.length > 0) return refused.map((sql) => `${RULE}, not: ${sql}`);

  const removals = (await select<Fact>(run, REMOVALS)).map(({ value }) => value);
  await run(splitSqlQuery([...removals, ...migrations.slice(0, -1)].join('\n')));
  const tables = Map.groupBy(await select<Column>(run, COLUMNS), ({ table }) => table);
  const deletes = Array.from(tables.keys(), (table) => `DELETE FROM ${table}`);
  const inserts = Array.from(tables.values(), insertOf);
  await run(inserts);
  const before = await select<Fact>(run, FACTS);
  try {
    await run(splitSqlQuery(last));
    // Served code still writes. Only then SQLite finds that a reference is to nothing, or to a column that is not unique.
    await run([...deletes, ...inserts]);
  } catch (error) {
    // A new constraint rejects a row or a write.
    return [String(error)];
  }
  const added = (await select<Fact>(run, FACTS)).filter(
    (fact) => !before.some((other) => isDeepStrictEqual(fact, other)),
  );
  return added
    .filter((fact) => !isHarmless(fact, before, tables))
    .map(({ kind, table, value }) => `${kind} of ${table}: ${value}`);
}

function refusedStatements(migration: string): string[] {
  const statements = statementsOf(migration);
  const created = statements.map((sql) => /^create table (\w+)/.exec(sql)?.[1]);
  return statements.filter((sql) => {
    const [, table = ''] = /^create unique index \w+ on (\w+)/.exec(sql) ?? [];
    const isAllowed = ALLOWED.test(sql) || created.includes(table);
    return !isAllowed || CHECK.test(sql);
  });
}

/** Statements in lower case, without comments. Strings and quoted names are empty, so that no semicolon in them counts. */
function statementsOf(sql: string): string[] {
  return sql
    .replaceAll(/--[^\n]*|\/\*.*?(?:\*\/|$)|'[^']*'|"[^"]*"|`[^`]*`|\[[^\]]*\]/gs, (token) =>
      /^[-/]/.test(token) ? ' ' : "''",
    )
    .split(';')
    .map((each) => each.trim().replaceAll(/\s+/g, ' ').toLowerCase())
    .filter(Boolean);
}

/** Inserts two rows into a table, as served code does: without the id, which SQLite assigns. */
function insertOf(columns: Column[]): string {
  const named = columns.filter(({ name }) => name !== 'id');
  const rows = [0, 1].map((row) => `(${named.map((column) => valuesOf(column)[row]).join()})`);
  const names = named.map(({ name }) => name);
  return `INSERT INTO ${columns[0]?.table} (${names}) VALUES ${rows}`;
}

function valuesOf({ table, name, type }: Column): string[] {
  const values = VALUES[type];
  if (values) return values;
  throw new Error(
    `test/migrations/migrations.ts has no values for ${table}.${name} of the type ${type}`,
  );
}

async function select<Row>(run: Run, query: string): Promise<Row[]> {
  return (await run<Row>([query])).flatMap(({ results }) => results);
}

/** A new table may have anything but a reference to an old one. An old table may only have more columns and plain indexes. */
function isHarmless({ kind, table, value }: Fact, before: Fact[], tables: Tables): boolean {
  if (kind === 'reference') return !tables.has(value);
  if (kind === 'expression') return !tables.has(table);
  const old = before.find((fact) => fact.kind === 'table' && fact.table === table);
  if (kind !== 'table' || !old) return true;
  const added = addedText(old.value, value).replaceAll(/'[^']*'/g, '');
  return !tables.get(table)?.some(({ name }) => RegExp(`\\b${name}\\b`, 'i').test(added));
}

/** SQLite inserts the text of a new column after the last column. */
function addedText(before: string, after: string): string {
  let start = 0;
  while (before[start] === after[start]) start += 1;
  return after.slice(start, after.length - (before.length - start));
}
