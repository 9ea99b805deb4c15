/** `npm run seed`: adds sample data to the local store, even while it is served. */
import { join } from 'node:path';
import { createProgram, integerFrom, run } from '../command-line.ts';
import { PROJECT_ROOT, WRANGLER_ENV } from '../wrangler.ts';
import { addOrders, addPets } from './sample-data.ts';
import { setUpLocalStore } from './store.ts';

/** Close to the maximum size of a D1 database. */
const MAX = 100_000_000;

const program = createProgram(
  'npm run seed --',
  'Adds animals, then orders of animals, to the local store. Those that exist stay.',
)
  .option('--pets <number>', 'number of animals', integerFrom(1, MAX))
  .option('--orders <number>', 'number of orders', integerFrom(1, MAX))
  .action(async ({ pets = 0, orders = 0 }: { pets?: number; orders?: number }) => {
    if (pets + orders === 0) program.error('error: --pets N, --orders N, or both are required');
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
      // On a fresh clone there are no tables.
      await env.DB.prepare('SELECT id FROM orders LIMIT 1').run().catch(setUpLocalStore);
      if (pets > 0) await add(env.DB, pets, addPets, 'animals');
      if (orders > 0) await add(env.DB, orders, addOrders, 'orders');
    } finally {
      await dispose();
    }
  });

await run(program);

async function add(db: D1Database, count: number, addRows: typeof addPets, things: string) {
  const lineStart = process.stdout.isTTY ? '\r' : '';
  await addRows(db, count, (done) => {
    if (lineStart) process.stdout.write(`${lineStart}${done} of ${count} ${things} `);
  });
  const { meta } = await db.prepare('SELECT 1').run();
  const size = (meta.size_after / 1024).toFixed(0);
  console.log(`${lineStart}${count} ${things} were added. The database has ${size} KiB.`);
}
