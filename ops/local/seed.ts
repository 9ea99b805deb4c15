/** `npm run seed`: adds sample data to the local store, even while it is served. */
import { join } from 'node:path';
import { WRITES_STOPPED } from '../../src/database.ts';
import { createProgram, integerFrom, run } from '../command-line.ts';
import { localStoreError, PROJECT_ROOT, WRANGLER_ENV } from '../wrangler.ts';
import { addOrders, addPets } from './sample-data.ts';
import { setUpLocalStore } from './store.ts';

/** Close to the maximum size of a D1 database. */
const MAX = 100_000_000;

type Counts = { pets?: number; orders?: number };

const program = createProgram(
  'npm run seed --',
  'Adds animals, then orders of animals, to the local store. Those that exist stay.',
)
  .option('--pets <number>', 'number of animals', integerFrom(1, MAX))
  .option('--orders <number>', 'number of orders', integerFrom(1, MAX))
  .action(async ({ pets, orders }: Counts, command) => {
    if (!pets && !orders) command.error('error: --pets N, --orders N or both are required');
    await withLocalDatabase(async (db) => {
      if (pets) await add(db, 'pets', 'animals', pets, addPets);
      if (orders) await add(db, 'orders', 'orders', orders, addOrders);
    });
  });

await run(program);

async function add(
  db: D1Database,
  table: string,
  things: string,
  count: number,
  addRows: typeof addPets,
): Promise<void> {
  const lineStart = process.stdout.isTTY ? '\r' : '';
  let done = 0;
  await addRows(db, count, (added) => {
    done += added;
    if (process.stdout.isTTY) process.stdout.write(`\r${done} of ${count} ${things} `);
  }).catch((cause) => {
    if (!String(cause).includes(WRITES_STOPPED)) throw localStoreError(cause);
    throw new Error('writes to the local store are stopped: npm run writes -- resume', { cause });
  });
  // The last id is cheap to read, and is the number of rows if nothing was deleted.
  const { results, meta } = await db.prepare(`SELECT max(id) AS last FROM ${table}`).all();
  console.log(
    `${lineStart}${count} ${things} were added; the last id is ${results[0]?.last}. The database has ${Math.round(meta.size_after / 1024)} KiB.`,
  );
}

/** Opens the local database, even while it is served. On a fresh clone, sets it up first. */
async function withLocalDatabase(use: (db: D1Database) => Promise<void>): Promise<void> {
  Object.assign(process.env, WRANGLER_ENV);
  // Imported only here, because loading wrangler would delay the error for invalid arguments.
  const { getPlatformProxy } = await import('wrangler');
  const { env, dispose } = await getPlatformProxy<Env>({
    configPath: join(PROJECT_ROOT, 'wrangler.toml'),
    // The top level of wrangler.toml, even if a .env file sets CLOUDFLARE_ENV.
    environment: '',
    persist: { path: join(PROJECT_ROOT, '.wrangler/state/v3') },
  });
  try {
    await env.DB.prepare('SELECT id FROM orders LIMIT 1').run().catch(setUpLocalStore);
    await use(env.DB);
  } finally {
    await dispose();
  }
}
