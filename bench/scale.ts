/** Compares the store with many and with few animals: the rows that D1 bills, and the speed of a page. */
import { addPets } from '../ops/local/sample-data.ts';
import { encodeCursor } from '../src/http/cursor.ts';
import { type Call, OPERATIONS, sendInProcess } from './calls.ts';
import { compare } from './load.ts';
import type { Rows, Section } from './report.ts';
import { withServers, workerd } from './servers.ts';

const MANY = 1_000_000;

export function measureScale(): Promise<Section> {
  return withServers(workerd, ['src/index.ts', 'src/index.ts'], async (few, many) => {
    await addPets(few.env.DB, 1_000);
    await addPets(many.env.DB, MANY);
    const rows = await countRows(many.env);
    const load = { rounds: 41, connections: 16, count: 12 };
    const comparison = {
      name: 'page deep in a million ÷ first page of a thousand',
      store: { server: many, call: deepPage() },
      baseline: { server: few, call: OPERATIONS.listPets },
      min: 0.9,
    };
    const { thresholds } = await compare([comparison], 'requests per CPU second', load);
    const read = rows['listPets, deep page']?.read ?? Number.NaN;
    const written = rows.createPet?.written ?? Number.NaN;
    return {
      thresholds: [
        ...thresholds,
        { figure: 'rows read by a list of 20 deep in a million', max: 21, value: read },
        { figure: 'rows written by createPet without Idempotency-Key', max: 3, value: written },
      ],
      table: [
        ['request', 'rows read', 'rows written'],
        ...Object.entries(rows).map(([name, row]) => [name, `${row.read}`, `${row.written}`]),
      ],
      rows,
    };
  });
}

/** A page of 20 that starts after nine tenths of `MANY` animals. */
function deepPage(scope = ''): Call {
  const cursor = encodeCursor({ scope, lastId: (BigInt(MANY) * 9n) / 10n });
  return { path: `/v1/pets?limit=20${scope && `&status=${scope}`}&cursor=${cursor}` };
}

/** Runs the app in this process, on the database of a server. */
async function countRows(env: Env): Promise<Record<string, Rows>> {
  const once = { ...OPERATIONS.createPet, headers: { 'idempotency-key': crypto.randomUUID() } };
  const calls: Record<string, Call> = {
    ...OPERATIONS,
    'listPets, 100': { path: '/v1/pets?limit=100' },
    'listPets, deep page': deepPage(),
    'listPets, deep page of sold': deepPage('sold'),
    'createPet with Idempotency-Key': once,
    'createPet replayed': once,
  };
  const counts: Record<string, Rows> = {};
  for (const [name, call] of Object.entries(calls)) {
    const rows = { read: 0, written: 0 };
    const response = await sendInProcess(call, { ...env, DB: counting(env.DB, rows) });
    if (!response.ok) throw new Error(`${name}: ${await response.text()}`);
    counts[name] = rows;
  }
  return counts;
}

/** Wraps the methods of the database that the store uses. */
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
