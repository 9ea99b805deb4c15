/** `npm run seed`: adds sample data to the local store, even while it is served. */
import { globSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { createProgram, integerFrom, run } from './command/command-line.ts';
import { DATABASES, setUpLocalStore } from './local/store.ts';

/** Rows per statement: so few that a running store is locked for milliseconds only. */
const CHUNK = 2_000;

/**
 * Adds ?1 animals, named from ?2 on. Their statuses cycle through available, pending, sold, none. Numbers are bound as REAL, so
 * without the CAST the first name would be `Animal 1.0`.
 */
export const INSERTION = `
  INSERT INTO pets (name, category_id, status)
  WITH RECURSIVE number(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM number WHERE i < ?1)
  SELECT 'Animal ' || (i + CAST(?2 AS INTEGER)), i % 100,
    CASE i % 4 WHEN 1 THEN 'available' WHEN 2 THEN 'pending' WHEN 3 THEN 'sold' END
  FROM number`;

export const program = createProgram('npm run seed --', 'Adds animals to the local store.')
  .requiredOption('--pets <number>', 'number of animals', integerFrom(1, 1_000_000))
  .action(async ({ pets }: { pets: number }) => {
    await setUpLocalStore();
    // Wrangler names the file of the animals by a hash. A store that is served can be locked for a moment.
    const [name = ''] = globSync('[0-9a-f]*.sqlite', { cwd: DATABASES });
    const database = new DatabaseSync(join(DATABASES, name), { timeout: 10_000 });
    const insertion = database.prepare(INSERTION);
    for (let done = 0; done < pets; done += CHUNK)
      insertion.run(Math.min(CHUNK, pets - done), done);
    database.close();
    console.log(`${pets} animals were added.`);
  });

if (import.meta.main) await run(program);
