/**
 * Fills a database with made-up animals. By itself, `npm run seed -- --pets 1000000` adds them to the local
 * store.
 */
import { parseArgs } from 'node:util';
import { SingleBar } from 'cli-progress';
import { setUpLocalStore, withLocalStore } from '../ops/local-store.ts';

const STEP = 20_000;

/** Adds animals, statuses in turn: available, pending, sold, none; shows a progress bar. */
export async function seed(db: D1Database, pets: number): Promise<void> {
  const bar = new SingleBar({
    format: 'seeding {bar} {value}/{total} animals, {eta_formatted} left',
  });
  bar.start(pets, 0);
  for (let done = 0; done < pets; done += STEP) {
    const count = Math.min(STEP, pets - done);
    await db
      .prepare(
        `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1)
         INSERT INTO pets (name, category_id, status)
         SELECT 'Animal number ' || i, i % 50,
           CASE i % 4 WHEN 0 THEN 'available' WHEN 1 THEN 'pending' WHEN 2 THEN 'sold' END FROM n`,
      )
      .bind(count)
      .run();
    bar.update(done + count);
  }
  bar.stop();
}

if (import.meta.main) {
  const pets = readPets();
  await setUpLocalStore();
  await withLocalStore(({ DB }) => seed(DB, pets));
}

function readPets(): number {
  try {
    const { values } = parseArgs({ options: { pets: { type: 'string', default: '' } } });
    const pets = Number(values.pets);
    if (/^[0-9]+$/.test(values.pets) && pets >= 1 && pets <= 10_000_000) return pets;
  } catch {
    // An unknown argument: the usage says what there is.
  }
  console.error('usage: npm run seed -- --pets N   (N from 1 to 10000000)');
  process.exit(2);
}
