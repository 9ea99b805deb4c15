/** `npm run seed`: adds sample data to the local store, even while it is served. */
import { globSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { InvalidArgumentError } from 'commander';
import { createProgram, run } from './command/command-line.ts';
import { DATABASES, setUpLocalStore } from './local/store.ts';

/** Adds ?1 animals. Their statuses cycle through available, pending, sold, none. */
export const INSERTION = `
  INSERT INTO pets (name, category_id, status)
  WITH RECURSIVE number(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM number WHERE i < ?1)
  SELECT 'Animal ' || i, i % 100,
    CASE i % 4 WHEN 1 THEN 'available' WHEN 2 THEN 'pending' WHEN 3 THEN 'sold' END
  FROM number`;

export const program = createProgram('npm run seed --', 'Adds animals to the local store.')
  .requiredOption('--pets <number>', 'number of animals', parseCount)
  .action(async ({ pets }: { pets: number }) => {
    await setUpLocalStore();
    // Wrangler names the file of the animals by a hash. A store that is served can be locked for a
    // moment.
    const [name = ''] = globSync('[0-9a-f]*.sqlite', { cwd: DATABASES });
    const database = new DatabaseSync(join(DATABASES, name), { timeout: 10_000 });
    database.prepare(INSERTION).run(pets);
    database.close();
    console.log(`${pets} animals were added.`);
  });

function parseCount(text: string): number {
  const count = Number(text);
  if (/^[0-9]+$/.test(text) && count >= 1 && count <= 1_000_000) return count;
  throw new InvalidArgumentError('It must be an integer from 1 to 1000000.');
}

if (import.meta.main) await run(program);
