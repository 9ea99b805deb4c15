import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
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
  const mocks = { '../../ops/local/store.ts': { DATABASES, setUpLocalStore: async () => {} } };
  const seed = (pets: string) => runInProcess('seed.ts', mocks, ['--pets', pets]);
  const lock = startProcess(['--eval', LOCK, file], DATABASES);
  await lock.printed('locked');
  expect(await seed('3')).toEqual({ code: 0, stdout: '3 animals were added.\n', stderr: '' });
  await seed('1');
  expect(database.prepare('SELECT name, status FROM pets').all()).toEqual([
    { name: 'Animal 1', status: 'available' },
    { name: 'Animal 2', status: 'pending' },
    { name: 'Animal 3', status: 'sold' },
    { name: 'Animal 1', status: 'available' },
  ]);
  database.close();
});
