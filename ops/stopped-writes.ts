/**
 * Stops writes with triggers that reject every change of a table from the next statement on, for every version of the
 * service. Reads still work. A Time Travel restore also restores the schema, and so removes the triggers.
 */
import { WRITES_STOPPED } from '../src/d1/errors.ts';

/** Runs a statement on the database and returns the column `name` of its rows. */
export type Execute = (sql: string) => Promise<string[]>;

/** The tables that clients can change. The scheduled handler may still remove its records. */
const SELECT_TABLES =
  "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT IN ('d1_migrations', 'idempotency_keys', 'write_attempts') AND name NOT GLOB 'sqlite_*' AND name NOT GLOB '_cf_*'";
const SELECT_TRIGGERS = "SELECT name FROM sqlite_schema WHERE name GLOB 'stop_writes_*'";
/** Each has a trigger on each table. */
const EVENTS = ['insert', 'update', 'delete'];

/** Safe to repeat. @throws Error when a statement fails, or when a table still accepts writes. */
export async function stopWrites(execute: Execute): Promise<void> {
  const tables = await execute(SELECT_TABLES);
  if (tables.length === 0) throw new Error('The database has no tables: apply the migrations.');
  // Each must be the only statement of a request, in one line: D1's API splits requests at semicolons, and recognizes a
  // trigger by an upper-case BEGIN. https://github.com/cloudflare/workers-sdk/issues/15314
  for (const table of tables)
    for (const event of EVENTS)
      await execute(
        `CREATE TRIGGER IF NOT EXISTS stop_writes_${table}_${event} BEFORE ${event} ON ${table} BEGIN SELECT RAISE(ABORT, '${WRITES_STOPPED}'); END;`,
      );
  if ((await readWrites(execute)) !== 'stopped')
    throw new Error('Some tables still accept writes: run the command again.');
}

export async function resumeWrites(execute: Execute): Promise<void> {
  for (const name of await execute(SELECT_TRIGGERS)) await execute(`DROP TRIGGER ${name}`);
}

/** Whether writes are stopped. They are partly stopped after a command that failed half-way. */
export async function readWrites(execute: Execute) {
  const triggers = await execute(SELECT_TRIGGERS);
  if (triggers.length === 0) return 'accepted';
  const tables = await execute(SELECT_TABLES);
  return triggers.length === tables.length * EVENTS.length ? 'stopped' : 'partly stopped';
}
