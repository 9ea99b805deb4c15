/** SQL statements as tagged templates, with their values in place. */

export type Value = BoundValue | bigint | Sql;

/** An int64 is decimal text: D1 rounds numbers beyond 2^53, and rejects bigints. */
type BoundValue = string | number | boolean | null | ArrayBuffer;

/** A class: the JSON of a client cannot forge `instanceof`. */
export class Sql<Row = unknown> {
  readonly text: string;
  readonly values: BoundValue[];
  /** A phantom type of the rows: no object has this member. */
  declare readonly row?: Row;

  constructor(text: string, values: BoundValue[]) {
    this.text = text;
    this.values = values;
  }
}

/**
 * An `Sql` becomes a part of the statement, and any other value a parameter. The text must not
 * contain a `?`.
 *
 * @throws TypeError for an object, which the compiler accepts only as `any`.
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

/** Inserts one row, or fails. Throws a TypeError if a name is not a plain one. */
export function insertInto(table: string, row: Record<string, Value>): Sql {
  const columns = Object.keys(row);
  for (const name of [table, ...columns]) requireName(name);
  const values = Object.values(row).map(toSql);
  return new Sql(
    `INSERT INTO ${table} (${columns}) VALUES (${values.map(({ text }) => text)})`,
    values.flatMap((value) => value.values),
  );
}

/** What follows SET: the columns whose value is not undefined, at least one. */
export function assignments(row: Record<string, Value | undefined>): Sql {
  const changes = Object.entries(row).flatMap(([name, value]) => {
    requireName(name);
    return value === undefined ? [] : sql`${new Sql(name, [])} = ${value}`;
  });
  return changes.reduce((all, change) => sql`${all}, ${change}`);
}

function requireName(name: string): void {
  if (!/^\w+$/.test(name)) throw new TypeError(`${name} is not a name`);
}

function toSql(part: Value) {
  if (part instanceof Sql) return part;
  if (typeof part === 'bigint') return new Sql('CAST(? AS INTEGER)', [`${part}`]);
  if (part === null || part instanceof ArrayBuffer || typeof part !== 'object')
    return new Sql('?', [part]);
  throw new TypeError('an object is not SQL');
}
