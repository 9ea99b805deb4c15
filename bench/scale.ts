/** The store with few animals and with many: the rows that D1 bills, and the speed of a page. */
import { addPets } from '../ops/sample-data.ts';
import { type Call, deepPage, OPERATIONS, sendInProcess } from './calls.ts';
import { type Load, race } from './load.ts';
import type { Rows, Section } from './results.ts';
import { quietRig, serving } from './rigs.ts';

const FEW = 1_000;
const MANY = 1_000_000;

export function measureScale(load: Load): Promise<Section> {
  return serving(quietRig, ['src/index.ts', 'src/index.ts'], async (few, many) => {
    await addPets(few.env.DB, FEW);
    await addPets(many.env.DB, MANY);
    const fewRows = await countRows(few.env, FEW);
    const rows = await countRows(many.env, MANY);
    const { meta } = await many.env.DB.prepare('SELECT 1').run();
    const { listPets } = OPERATIONS;
    const deep = 'a page deep in a million';
    const bar = { store: deep, least: 0.9, metric: 'requests in a second of CPU' } as const;
    const { bars } = await race(
      [
        { name: deep, server: many, call: deepPage(MANY) },
        { name: 'the first of a thousand', server: few, call: listPets, ...bar },
      ],
      load,
    );
    const limits = { listPets: 20, 'listPets, deep page': 20, 'listPets, 100': 100 };
    const beyond = Object.entries(limits).map(
      ([name, limit]) => (rows[name]?.read ?? Number.NaN) - limit,
    );
    const written = rows.createPet?.written ?? Number.NaN;
    const show = (each: Rows | undefined) => `${each?.read} / ${each?.written}`;
    return {
      bars: [
        ...bars,
        { figure: 'rows read by a list, beyond its limit', most: 1, value: Math.max(...beyond) },
        { figure: 'rows written by createPet without Idempotency-Key', most: 3, value: written },
      ],
      table: [
        ['rows read / written', 'of 1,000 animals', 'of 1,000,000'],
        ...Object.keys(rows).map((name) => [name, show(fewRows[name]), show(rows[name])]),
        ['bytes of an animal, with its index entry', '', (meta.size_after / MANY).toFixed(0)],
      ],
      rows,
    };
  });
}

/** Rows of requests: the app in this process, on the database of a server. */
async function countRows(env: Env, pets: number): Promise<Record<string, Rows>> {
  const once = { ...OPERATIONS.createPet, headers: { 'idempotency-key': crypto.randomUUID() } };
  const calls: Record<string, Call> = {
    ...OPERATIONS,
    'listPets, 100': { path: '/v1/pets?limit=100' },
    'listPets, deep page': deepPage(pets),
    'listPets, deep page of sold': deepPage(pets, 'sold'),
    'createPet with Idempotency-Key': once,
    'the same again': once,
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

/** The database as far as the store uses it. */
function counting(db: D1Database, rows: Rows) {
  const originals = new Map<object, D1PreparedStatement>();
  const count = <T extends D1Result>(result: T): T => {
    rows.read += result.meta.rows_read;
    rows.written += result.meta.rows_written;
    return result;
  };
  const wrap = (statement: D1PreparedStatement) => {
    const wrapper = {
      bind: (...values: unknown[]) => wrap(statement.bind(...values)),
      all: async () => count(await statement.all()),
    };
    originals.set(wrapper, statement);
    return wrapper;
  };
  return {
    prepare: (sql: string) => wrap(db.prepare(sql)),
    async batch(wrappers: object[]) {
      const statements = wrappers.flatMap((wrapper) => originals.get(wrapper) ?? []);
      return (await db.batch(statements)).map(count);
    },
  };
}
