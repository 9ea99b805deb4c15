/** The local store, with a fake of wrangler. local.slow.ts runs the real one. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test, vi } from 'vitest';
import { LOCAL_KEY, LOCAL_KEY_RECORD } from '../../../ops/local/store.ts';
import { program } from '../../../ops/seed.ts';
import { recordName } from '../../../src/auth/key-record.ts';
import { importWith, runInProcess } from '../command.ts';
import { temporaryFolder } from '../project.ts';

const SET_UP = 'Setting up the local store …';
const GUIDE = expect.stringContaining(`ADDRESS/v1/pets -H 'Authorization: Bearer ${LOCAL_KEY}'\n`);
const SERVED = expect.stringContaining('The store is served.');

test('a start sets up a new store, and one with a pending migration, unless it is served', async () => {
  const PROJECT_ROOT = await temporaryFolder();
  const folder = join(PROJECT_ROOT, '.wrangler/state/v3/d1/miniflare-D1DatabaseObject');
  for (const path of [folder, join(PROJECT_ROOT, 'migrations')])
    mkdirSync(path, { recursive: true });
  const writeMigration = (name: string, sql = '') =>
    writeFileSync(join(PROJECT_ROOT, 'migrations', name), sql);
  const runWranglerIn = vi.fn();
  const writeRecord = vi.fn();
  const mocks = {
    '../../ops/command/project-root.ts': { PROJECT_ROOT },
    '../../ops/command/wrangler.ts': { runWranglerIn },
    '../../ops/local/client-package.ts': { packClient: () => console.log('packed') },
    '../../ops/keys/records.ts': { writeRecord },
    'node:timers/promises': { setTimeout: async (ms: number) => console.log(ms) },
  };
  const print = vi.spyOn(console, 'log').mockReturnValue();
  vi.spyOn(console, 'error').mockImplementation(print);
  /** As wrangler runs it. Returns what it prints, and how long it pauses. */
  const build = async (command = 'dev') => {
    vi.stubEnv('WRANGLER_COMMAND', command);
    print.mockClear();
    await importWith('local/set-up.ts', mocks);
    return print.mock.calls.map(([line]) => line);
  };

  writeMigration('1.sql');
  const runtime = new DatabaseSync(join(folder, 'metadata.sqlite'));
  runtime.exec('PRAGMA journal_mode = WAL; CREATE TABLE t (id)');
  const pending = 'Press Ctrl-C, and npm start applies 1.sql';
  expect(await build()).toEqual(['packed', pending, SERVED]);
  runtime.close();
  expect(runWranglerIn).not.toHaveBeenCalled();
  writeRecord.mockRejectedValueOnce('interrupted');
  await build();
  process.exitCode = undefined;
  expect(await build()).toEqual(['packed', SET_UP, GUIDE]);
  const record = ['local', await recordName(LOCAL_KEY), LOCAL_KEY_RECORD];
  expect(writeRecord.mock.calls).toEqual([record, record]);
  writeMigration('README.md');
  expect(await build()).toEqual(['packed', GUIDE]);
  writeMigration('1.sql', 'SELECT 1');
  writeMigration('2.sql');
  const changed = '1.sql changed: npm run reset empties the store';
  expect(await build()).toEqual(['packed', changed, 2000, SET_UP, GUIDE]);
  expect(await build()).toEqual(['packed', changed, GUIDE]);
  const call = ['local', ['d1', 'migrations', 'apply', 'DB', '--local']];
  expect(runWranglerIn.mock.calls).toEqual([call, call, call]);
  expect(await build('deploy')).toEqual(['packed']);
});

test('a million pets are accepted', () => {
  expect(program.options[0]?.parseArg?.('1000000', undefined)).toBe(1_000_000);
});

test('pets are added beside those that exist, and wait for a store that is locked', async () => {
  const DATABASES = await temporaryFolder();
  const path = join(DATABASES, '0a.sqlite');
  const database = new DatabaseSync(path);
  database.exec(readFileSync('schema.sql', 'utf8'));
  // Miniflare's own.
  new DatabaseSync(join(DATABASES, 'metadata.sqlite')).close();
  const setUpLocalStore = vi.fn();
  const open = vi.fn(DatabaseSync);
  const store = { DATABASES, setUpLocalStore };
  const mocks = { '../../ops/local/store.ts': store, 'node:sqlite': { DatabaseSync: open } };
  const seed = (pets: string) => runInProcess('seed.ts', mocks, ['--pets', pets]);
  expect(await seed('101')).toEqual({ code: 0, stdout: '101 animals were added.\n', stderr: '' });
  await seed('1');
  expect(setUpLocalStore).toHaveBeenCalledTimes(2);
  expect(open).toHaveBeenCalledWith(path, { timeout: 10_000 });
  const pets = database.prepare('SELECT name, category_id, status FROM pets').all();
  const statuses = [null, 'available', 'pending', 'sold'];
  expect(pets).toEqual(
    [...Array(101).keys(), 0].map((i) => ({
      name: `Animal ${i + 1}`,
      category_id: (i + 1) % 100,
      status: statuses[(i + 1) % 4],
    })),
  );
  database.close();
});
