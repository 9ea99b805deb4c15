/** SQL statements as tagged templates, so that a statement is read whole, with its values in place. */

/** A value that D1 binds. An int64 is decimal text: D1 rounds numbers beyond 2^53, and rejects bigints. */
type BoundValue = string | number | null;

/** The key of a member that no object has. It carries the type of a statement's rows for the compiler. */
declare const row: unique symbol;

/** SQL text with a placeholder `?` for each of `values`, in their order. */
export type Sql<Row = unknown> = { text: string; values: BoundValue[]; [row]?: Row };

/**
 * Builds SQL. The type of a value decides what it becomes:
 *
 * - a string, a number or null: a parameter, which SQLite never reads as SQL. So it cannot name a table or a column.
 * - a bigint (an int64): a parameter, too. SQLite turns its decimal text into an exact integer.
 * - SQL: a part of the statement, with its values.
 *
 * The text itself must not contain a `?`.
 *
 * @example
 * sql<{ name: string }>`SELECT name FROM pets WHERE id = ${5n}`
 * // { text: 'SELECT name FROM pets WHERE id = CAST(? AS INTEGER)', values: ['5'] }
 */
export function sql<Row = unknown>(
  texts: TemplateStringsArray,
  ...parts: (BoundValue | bigint | Sql)[]
): Sql<Row> {
  let text = texts[0] ?? '';
  const values: BoundValue[] = [];
  for (const [index, part] of parts.entries()) {
    const { text: partText, values: partValues } = toSql(part);
    text += partText + (texts[index + 1] ?? '');
    values.push(...partValues);
  }
  return { text, values };
}

function toSql(part: BoundValue | bigint | Sql): Sql {
  if (typeof part === 'bigint') return { text: 'CAST(? AS INTEGER)', values: [`${part}`] };
  if (typeof part === 'object' && part !== null) return part;
  return { text: '?', values: [part] };
}
