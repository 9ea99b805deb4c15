/**
 * `npm run seed -- --pets N`: adds N animals to the local store, beside those that are there; also while it is
 * served.
 */
import { parseArgs } from 'node:util';
import { SingleBar } from 'cli-progress';
import { setUpLocalStore, withLocalStore } from '../ops/local-store.ts';
import { addPets } from './animals.ts';

/** Some gigabytes: what a D1 database can hold at most. */
const MAX = 100_000_000;
const USAGE = `usage: npm run seed -- --pets N   (N from 1 to ${MAX})`;

const count = readCount();
// A sample of `request.cf` would need the network.
process.env.CLOUDFLARE_CF_FETCH_ENABLED ??= 'false';
await setUpLocalStore();
const bar = new SingleBar({
  format: '{bar} {percentage} %  {value} of {total} animals  {eta} s left',
});
try {
  await withLocalStore(async ({ DB }) => {
    bar.start(count, 0);
    await addPets(DB, count, (added) => bar.increment(added));
    bar.stop();
    // Ids are never used again: where nothing was deleted, the last one counts the animals, and reads one row.
    const { results, meta } = await DB.prepare('SELECT max(id) AS last FROM pets').all();
    const size = (meta.size_after / 1024 ** 2).toFixed(0);
    console.log(
      `${count} animals were added; the last id is ${results[0]?.last}. The database has ${size} MiB.`,
    );
  });
} catch (error) {
  bar.stop();
  console.error(`error: ${error instanceof Error ? error.message : error}`);
  process.exitCode = 1;
}

function readCount(): number {
  try {
    const { values } = parseArgs({ options: { pets: { type: 'string', default: '' } } });
    const count = Number(values.pets);
    if (/^[0-9]+$/.test(values.pets) && count >= 1 && count <= MAX) return count;
  } catch {
    // An unknown argument, or a missing value: the usage says what there is.
  }
  console.error(USAGE);
  process.exit(2);
}
