import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test, vi } from 'vitest';
import { runInProcess } from '../command.ts';
import { startProcess, temporaryFolder } from '../project.ts';

/** Locks a database for half a second. */
const LOCK = `const database = new (require('node:sqlite').DatabaseSync)(process.argv[1]);
database.exec('BEGIN IMMEDIATE');
console.log('locked');
setTimeout(() => database.exec('COMMIT'), 500);`;

test('pets are added beside those that exist, also when the store is locked', async () => {
  const DATABASES = await temporaryFolder();
  const file = join(DATABASES, '0a.sqlite');
  const database = new DatabaseSync(file);
  database.exec(readFileSync('schema.sql', 'utf8'));
  // Miniflare's own.
  new DatabaseSync(join(DATABASES, 'metadata.sqlite')).close();
  const setUpLocalStore = vi.fn();
  const mocks = { '../../ops/local/store.ts': { DATABASES, setUpLocalStore } };
  const seed = (pets: string) => runInProcess('seed.ts', mocks, ['--pets', pets]);
  const lock = startProcess(['--eval', LOCK, file], DATABASES);
  await lock.printed('locked');
  expect(await seed('101')).toEqual({ code: 0, stdout: '101 animals were added.\n', stderr: '' });
  await seed('1');
  expect(setUpLocalStore).toHaveBeenCalledTimes(2);
  const pets = database.prepare('SELECT name, category_id, status FROM pets').all();
  const statuses = [null, 'available', 'pending', 'sold'];
  expect(pets).toEqual(
    [...Array.from({ length: 101 }, (_, i) => i + 1), 1].map((i) => ({
      name: `Animal ${i}`,
      category_id: i % 100,
      status: statuses[i % 4],
    })),
  );
  database.close();
});
