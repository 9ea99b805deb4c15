/** Whether a migration only expands the schema: the code that is served, and older code, must work on the new tables. */
import { unstable_splitSqlQuery as splitSqlQuery } from 'wrangler';

/** Rows for each table. The newest is deleted, so that the largest id is only in `sqlite_sequence`. */
const ROWS: Record<string, string> = {
  pets: `INSERT INTO pets (name, category_id, status)
    VALUES ('Rex', 9007199254740993, 'pending'), ('Mia', -1, NULL), ('Tom', 2, 'sold')`,
  orders:
    "INSERT INTO orders (pet_id, status) VALUES (1, 'placed'), (2, 'cancelled'), (3, 'placed')",
  idempotency_keys: `INSERT INTO idempotency_keys (id, key_hash, created_at, body_hash, response)
    VALUES (1, 'k', 0, 'b', '{}'), (2, 'l', 0, 'b', ''), (3, 'm', 0, 'b', '')`,
};

type Row = Record<string, string | number | null>;
type Schema = { type: string; name: string; tbl_name: string; sql: string | null };

/** Applies migrations to an empty database, with rows in every table, and returns the problems of the last one. */
export async function problemsOf(db: D1Database, migrations: string[]): Promise<string[]> {
  const last = migrations.at(-1) ?? '';
  for (const migration of migrations.slice(0, -1)) await apply(db, migration);
  for (const table of await tablesOf(db)) {
    const rows = ROWS[table];
    if (!rows) throw new Error(`test/migrations.ts has no rows for the table ${table}`);
    await db.batch([db.prepare(rows), db.prepare(`DELETE FROM ${table} WHERE rowid = 3`)]);
  }
  const before = await readDatabase(db, await columnsOf(db));
  try {
    await apply(db, last);
  } catch (error) {
    return [`it fails on a database with rows: ${error}`];
  }
  return compare(before, await readDatabase(db, before.columns).catch(() => undefined));
}

async function apply(db: D1Database, migration: string): Promise<void> {
  await db.batch(splitSqlQuery(migration).map((statement) => db.prepare(statement)));
}

async function select<T = Row>(db: D1Database, sql: string): Promise<T[]> {
  return (await db.prepare(sql).all<T>()).results;
}

async function readSchema(db: D1Database): Promise<Schema[]> {
  const sql = 'SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY name';
  return (await select<Schema>(db, sql)).filter(
    ({ tbl_name }) => !/^(_cf|d1|sqlite)_/.test(tbl_name),
  );
}

async function tablesOf(db: D1Database): Promise<string[]> {
  return (await readSchema(db)).filter(({ type }) => type === 'table').map(({ name }) => name);
}

/** The columns of each table. */
async function columnsOf(db: D1Database): Promise<Map<string, string[]>> {
  const columns = new Map<string, string[]>();
  for (const table of await tablesOf(db)) {
    const rows = await select<{ name: string }>(db, `PRAGMA table_info(${table})`);
    columns.set(
      table,
      rows.map(({ name }) => name),
    );
  }
  return columns;
}

type Database = Awaited<ReturnType<typeof readDatabase>>;

/** The schema, and what the given columns contain. */
async function readDatabase(db: D1Database, columns: Map<string, string[]>) {
  const rows: Record<string, Row[]> = {};
  const unique: string[] = [];
  for (const [table, names] of columns) {
    const quoted = names.map((name) => `quote([${name}])`).join();
    rows[table] = await select(db, `SELECT ${quoted} FROM ${table} ORDER BY rowid`);
    const indexes = `SELECT name FROM pragma_index_list('${table}') WHERE "unique"`;
    for (const { name } of await select(db, indexes)) unique.push(`${table}.${name}`);
  }
  const schema = await readSchema(db);
  const expressions: string[] = [];
  for (const { name } of schema.filter(({ type }) => type === 'index'))
    if ((await select(db, `SELECT 1 FROM pragma_index_xinfo('${name}') WHERE cid = -2`)).length > 0)
      expressions.push(name);
  // SQLite creates the table of the largest ids with the first AUTOINCREMENT.
  const sequence =
    columns.size > 0 ? await select(db, 'SELECT name, seq FROM sqlite_sequence ORDER BY name') : [];
  const issued = sequence.filter(({ name }) => columns.has(String(name)));
  return { schema, columns, rows, unique: unique.sort(), expressions, issued };
}

function compare(before: Database, after?: Database): string[] {
  if (!after) return ['a table or a column is gone'];
  const problems: string[] = [];
  const find = (name: string) => after.schema.find((each) => each.name === name);
  const same = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b);
  for (const { type, name, sql } of before.schema) {
    const now = find(name)?.sql;
    if (type === 'table') problems.push(...growthProblems(before, name, `${sql}`, `${now}`));
    else if (sql !== now) problems.push(`the index ${name} changes`);
  }
  const isOld = ({ name }: Schema) => before.schema.some((each) => each.name === name);
  for (const { type, name, sql } of after.schema.filter((each) => !isOld(each))) {
    if (type === 'trigger' || type === 'view') problems.push(`${name} is a ${type}`);
    const referenced = [...before.columns.keys()].find((table) =>
      new RegExp(`\\bREFERENCES\\W+${table}\\b`, 'i').test(`${sql}`),
    );
    if (referenced) problems.push(`${name} references ${referenced}`);
  }
  if (!same(before.unique, after.unique)) problems.push('the unique indexes of old tables change');
  if (!same(before.expressions, after.expressions)) problems.push('an index is on an expression');
  if (!same(before.rows, after.rows)) problems.push('rows change');
  if (!same(before.issued, after.issued)) problems.push('the largest ids change');
  return problems;
}

/** SQLite inserts the text of an added column after the last one. Any other change changes the text elsewhere. */
function growthProblems(before: Database, table: string, old: string, now: string): string[] {
  let start = 0;
  while (start < old.length && old[start] === now[start]) start += 1;
  if (old === now) return [];
  const end = old.slice(start);
  const added = now.slice(start, now.length - end.length);
  if (!now.endsWith(end) || !/^\s*,/.test(added) || now.length < old.length + added.length)
    return [`the definition of ${table} changes`];
  const code = added.replaceAll(/'(?:[^']|'')*'/g, "''");
  const words = [...before.columns.keys(), ...(before.columns.get(table) ?? [])];
  const named = words.find((word) => new RegExp(`\\b${word}\\b`, 'i').test(code));
  if (named) return [`a column added to ${table} names ${named}`];
  if (/\bNOT\s+NULL\b/i.test(code) && !/\bDEFAULT\b/i.test(code))
    return [`a column added to ${table} is NOT NULL without a default`];
  return [];
}
