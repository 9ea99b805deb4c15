/**
 * `npm run seed -- --pets N --orders N`: adds N animals, then N orders of animals, to the local store, even while it is
 * served. Existing animals and orders stay.
 */
import { parseArgs } from 'node:util';
import { setUpLocalStore, withLocalStore } from './local-store.ts';
import { addOrders, addPets } from './sample-data.ts';
import { exitWithUsage } from './usage.ts';

/** Close to the maximum size of a D1 database. */
const MAX = 100_000_000;
const USAGE = `usage: npm run seed -- [--pets N] [--orders N]   (N from 1 to ${MAX}, at least one of them)`;

const counts = readCounts();
try {
  await withLocalStore(async ({ DB }) => {
    // On a fresh clone there are no tables.
    await DB.prepare('SELECT id FROM orders LIMIT 1').run().catch(setUpLocalStore);
    await seed(DB, counts.pets, { add: addPets, table: 'pets', things: 'animals' });
    await seed(DB, counts.orders, { add: addOrders, table: 'orders', things: 'orders' });
  });
} catch (error) {
  console.error(`error: ${error instanceof Error ? error.message : error}`);
  process.exitCode = 1;
}

type Kind = { add: typeof addPets; table: string; things: string };

async function seed(db: D1Database, count: number, { add, table, things }: Kind): Promise<void> {
  if (count === 0) return;
  let done = 0;
  await add(db, count, (added) => {
    done += added;
    if (process.stdout.isTTY) process.stdout.write(`\r${done} of ${count} ${things} `);
  });
  // The last id is cheap to read, and is the number of rows if nothing was deleted.
  const { results, meta } = await db.prepare(`SELECT max(id) AS last FROM ${table}`).all();
  const size = (meta.size_after / 1024 ** 2).toFixed(0);
  const start = process.stdout.isTTY ? '\r' : '';
  console.log(
    `${start}${count} ${things} were added; the last id is ${results[0]?.last}. The database has ${size} MiB.`,
  );
}

function readCounts(): { pets: number; orders: number } {
  try {
    const { values } = parseArgs({
      options: { pets: { type: 'string' }, orders: { type: 'string' } },
    });
    const given = Object.values(values);
    const isCount = (text: string) =>
      /^[0-9]+$/.test(text) && Number(text) >= 1 && Number(text) <= MAX;
    if (given.length > 0 && given.every(isCount)) {
      return { pets: Number(values.pets ?? 0), orders: Number(values.orders ?? 0) };
    }
  } catch {
    // An unknown argument, or a missing value: the usage shows the valid ones.
  }
  exitWithUsage(USAGE);
}
