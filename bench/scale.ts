/** The rows that D1 bills for each request to a store of a million animals. */
import { mock } from 'node:test';
import { type Call, OPERATIONS, sendInProcess } from './calls.ts';
import type { Rows, Section } from './results.ts';
import { build, withServers } from './servers.ts';
import { exact } from './statistics.ts';

const PETS = 1_000_000;

export async function measureScale(): Promise<Section> {
  const file = await build('src/index.ts');
  return withServers([{ file, pets: PETS }], async ([server]) => {
    if (!server) throw new Error('the store is not served');
    const rows = await countRows(server.env);
    const read = exact(rows['listPets, deep page']?.read ?? Number.NaN);
    const written = exact(rows.createPet?.written ?? Number.NaN);
    const deep = { name: 'rows read by a list of 20 deep in a million', max: 21, estimate: read };
    const create = { name: 'rows written by createPet', max: 3, estimate: written };
    return { figures: [deep, create], rows };
  });
}

/** A page of 20 that starts after nine tenths of all animals. */
function deepPage(filters = ''): Call {
  return { path: `/v1/pets?limit=20${filters && `&${filters}`}&after=${PETS * 0.9}` };
}

/** Runs the app in this process, on the database of a server, and prints no log lines. */
async function countRows(env: Env): Promise<Record<string, Rows>> {
  const once = { ...OPERATIONS.createPet, headers: { 'idempotency-key': crypto.randomUUID() } };
  const calls: Record<string, Call> = {
    ...OPERATIONS,
    'listPets, 100': { path: '/v1/pets?limit=100' },
    'listPets, deep page': deepPage(),
    'listPets, deep page of sold': deepPage('status=sold'),
    'createPet with Idempotency-Key': once,
    'createPet replayed': once,
  };
  const counts: Record<string, Rows> = {};
  const log = mock.method(console, 'log', () => {});
  for (const [name, call] of Object.entries(calls)) {
    const rows = { read: 0, written: 0 };
    const response = await sendInProcess(call, { ...env, DB: counting(env.DB, rows) });
    if (!response.ok) throw new Error(`${name}: ${await response.text()}`);
    counts[name] = rows;
  }
  log.mock.restore();
  return counts;
}

/** Adds what D1 bills to `rows`. Wraps the methods that the store uses. */
function counting(db: D1Database, rows: Rows) {
  const count = <T extends D1Result>(result: T): T => {
    rows.read += result.meta.rows_read;
    rows.written += result.meta.rows_written;
    return result;
  };
  const wrap = (statement: D1PreparedStatement) => ({
    statement,
    bind: (...values: unknown[]) => wrap(statement.bind(...values)),
    all: async () => count(await statement.all()),
  });
  return {
    prepare: (sql: string) => wrap(db.prepare(sql)),
    batch: async (wrapped: { statement: D1PreparedStatement }[]) =>
      (await db.batch(wrapped.map(({ statement }) => statement))).map(count),
  };
}
