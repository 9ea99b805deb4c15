/**
 * Stops writes with triggers that reject every change of a table from the next statement on, for every version of the
 * service and every client. Reads still work. A Time Travel restore also restores the schema, and so removes the
 * triggers.
 */
import { WRITES_STOPPED } from '../src/database.ts';

/** Runs a statement on the database and returns the column `name` of its rows. */
export type Execute = (sql: string) => Promise<string[]>;

/** The tables that clients can change. The scheduled handler may still remove records of idempotency keys. */
const SELECT_TABLES =
  "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT IN ('d1_migrations', 'idempotency_keys') AND name NOT GLOB 'sqlite_*' AND name NOT GLOB '_cf_*'";
const SELECT_TRIGGERS =
  "SELECT name FROM sqlite_schema WHERE type = 'trigger' AND name GLOB 'stop_writes_*'";

/** @throws Error when a statement fails. It is safe to call again. */
export async function stopWrites(execute: Execute): Promise<void> {
  for (const table of await execute(SELECT_TABLES))
    for (const event of ['INSERT', 'UPDATE', 'DELETE']) await execute(trigger(table, event));
}

/**
 * Must be the only statement of a request, in one line: D1's API splits requests at semicolons, and recognizes a trigger
 * by an upper-case BEGIN. https://github.com/cloudflare/workers-sdk/issues/15314
 */
function trigger(table: string, event: string): string {
  return `CREATE TRIGGER IF NOT EXISTS stop_writes_${table}_${event.toLowerCase()} BEFORE ${event} ON ${table} BEGIN SELECT RAISE(ABORT, '${WRITES_STOPPED}'); END;`;
}

export async function resumeWrites(execute: Execute): Promise<void> {
  for (const name of await execute(SELECT_TRIGGERS)) await execute(`DROP TRIGGER ${name}`);
}

export async function areWritesStopped(execute: Execute): Promise<boolean> {
  return (await execute(SELECT_TRIGGERS)).length > 0;
}
