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
const SELECT_TRIGGERS =
  "SELECT name FROM sqlite_schema WHERE type = 'trigger' AND name GLOB 'stop_writes_*'";

/** The statements that stop all writes, by the names of their triggers. */
async function triggers(execute: Execute): Promise<Map<string, string>> {
  const statements = new Map<string, string>();
  for (const table of await execute(SELECT_TABLES))
    for (const event of ['INSERT', 'UPDATE', 'DELETE']) {
      const name = `stop_writes_${table}_${event.toLowerCase()}`;
      // Must be the only statement of a request, in one line: D1's API splits requests at semicolons, and recognizes a
      // trigger by an upper-case BEGIN. https://github.com/cloudflare/workers-sdk/issues/15314
      const sql = `CREATE TRIGGER IF NOT EXISTS ${name} BEFORE ${event} ON ${table} BEGIN SELECT RAISE(ABORT, '${WRITES_STOPPED}'); END;`;
      statements.set(name, sql);
    }
  if (statements.size === 0) throw new Error('The database has no tables: apply the migrations.');
  return statements;
}

/** Safe to repeat. @throws Error when a statement fails, or when a table still accepts writes. */
export async function stopWrites(execute: Execute): Promise<void> {
  for (const sql of (await triggers(execute)).values()) await execute(sql);
  if ((await readWrites(execute)) !== 'stopped')
    throw new Error('Some tables still accept writes: run the command again.');
}

export async function resumeWrites(execute: Execute): Promise<void> {
  for (const name of await execute(SELECT_TRIGGERS)) await execute(`DROP TRIGGER ${name}`);
}

type Writes = 'accepted' | 'partly stopped' | 'stopped';

/** Whether writes are stopped. They are partly stopped after a command that failed half-way. */
export async function readWrites(execute: Execute): Promise<Writes> {
  const present = await execute(SELECT_TRIGGERS);
  if (present.length === 0) return 'accepted';
  const names = [...(await triggers(execute)).keys()];
  return names.every((name) => present.includes(name)) ? 'stopped' : 'partly stopped';
}
