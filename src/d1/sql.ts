/** SQL statements as tagged templates, so that a statement is read whole, with its values in place. */

/** What stands for a value in a statement. */
export type Value = BoundValue | bigint | Sql;

/**
 * A value that D1 binds. An int64 is decimal text: D1 rounds numbers beyond 2^53, and rejects bigints. An ArrayBuffer is a BLOB.
 */
type BoundValue = string | number | boolean | null | ArrayBuffer;

/**
 * SQL text with a placeholder `?` for each of `values`, in their order. A class, because `instanceof` cannot be forged: JSON from
 * a client with the members `text` and `values` is not an `Sql`.
 */
export class Sql<Row = unknown> {
  readonly text: string;
  readonly values: BoundValue[];
  /** A phantom type: the type of the statement's rows, for the compiler. No object has this member. */
  declare readonly row?: Row;

  constructor(text: string, values: BoundValue[]) {
    this.text = text;
    this.values = values;
  }
}

/**
 * Builds SQL. The type of a value decides what it becomes:
 *
 * - a string, a number, a boolean, null or an ArrayBuffer: a parameter, which SQLite never reads as SQL. So it cannot name a table or a column.
 * - a bigint (an int64): a parameter, too. SQLite turns its decimal text into an exact integer.
 * - SQL: a part of the statement, with its values.
 *
 * The text itself must not contain a `?`.
 *
 * @throws TypeError for any other object. The compiler accepts one only if its type is `any`.
 *
 * @example
 * sql<{ name: string }>`SELECT name FROM pets WHERE id = ${5n}`
 * // text: 'SELECT name FROM pets WHERE id = CAST(? AS INTEGER)', values: ['5']
 */
export function sql<Row = unknown>(texts: TemplateStringsArray, ...parts: Value[]): Sql<Row> {
  let text = '';
  const values: BoundValue[] = [];
  for (const [index, part] of parts.entries()) {
    const inner = toSql(part);
    text += texts[index] + inner.text;
    values.push(...inner.values);
  }
  return new Sql(text + texts.at(-1), values);
}

/**
 * `INSERT … VALUES`, which inserts one row, or fails.
 *
 * @throws TypeError if the name of the table or of a column is not a plain one.
 */
export function insertInto(table: string, row: Record<string, Value>): Sql {
  const columns = Object.keys(row);
  const wrong = [table, ...columns].find((name) => !/^\w+$/.test(name));
  if (wrong !== undefined) throw new TypeError(`${wrong} is not a name`);
  const values = Object.values(row).map(toSql);
  return new Sql(
    `INSERT INTO ${table} (${columns}) VALUES (${values.map(({ text }) => text)})`,
    values.flatMap((value) => value.values),
  );
}

function toSql(part: Value) {
  if (part instanceof Sql) return part;
  if (typeof part === 'bigint') return new Sql('CAST(? AS INTEGER)', [`${part}`]);
  if (part === null || part instanceof ArrayBuffer || typeof part !== 'object')
    return new Sql('?', [part]);
  throw new TypeError('an object is not SQL');
}
