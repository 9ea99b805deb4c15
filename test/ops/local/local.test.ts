/** The local store, with a fake of wrangler. local.slow.ts runs the real one. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, expect, test, vi } from 'vitest';
import { PROJECT_ROOT as ROOT } from '../../../ops/command/project-root.ts';
import { LOCAL_KEY, LOCAL_KEY_RECORD } from '../../../ops/local/store.ts';
import { recordName } from '../../../src/auth/key-record.ts';
import { importWith, runInProcess } from '../command.ts';
import { startProcess, temporaryFolder } from '../project.ts';

afterEach(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
});

/**
 * A project with one migration, and a wrangler that records its calls. `open`: a runtime has opened
 * the store.
 */
async function createStore(open = false) {
  const PROJECT_ROOT = await temporaryFolder();
  const folder = join(PROJECT_ROOT, '.wrangler/state/v3/d1/miniflare-D1DatabaseObject');
  mkdirSync(folder, { recursive: true });
  mkdirSync(join(PROJECT_ROOT, 'migrations'));
  const writeMigration = (name: string, sql = '') =>
    writeFileSync(join(PROJECT_ROOT, 'migrations', name), sql);
  writeMigration('1.sql');
  const runtime = new DatabaseSync(join(folder, 'metadata.sqlite'));
  runtime.exec('PRAGMA journal_mode = WAL; CREATE TABLE t (id)');
  if (!open) runtime.close();
  const runWranglerIn = vi.fn(async () => '');
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
  return { writeMigration, runtime, build, runWranglerIn, writeRecord };
}

const SET_UP = 'Setting up the local store …';
const GUIDE = `The local store is set up. ADDRESS is what wrangler prints below, and ADDRESS/docs the docs page:
curl -i -w '\\n' ADDRESS/v1/pets -H 'Authorization: Bearer ${LOCAL_KEY}'
After Ctrl-C, npm run reset empties the store, also a damaged one.`;
const SERVED =
  'The store is served. A second server, at another port, can find it locked (503): run one per clone.';

test('each start prints the guide, and sets up a new store and one with a pending migration', async () => {
  const { writeMigration, build, runWranglerIn, writeRecord } = await createStore();
  expect(await build()).toEqual(['packed', SET_UP, GUIDE]);
  writeMigration('README.md');
  const record = ['local', await recordName(LOCAL_KEY), LOCAL_KEY_RECORD];
  expect(writeRecord.mock.calls).toEqual([record]);
  expect(await build()).toEqual(['packed', GUIDE]);
  writeMigration('1.sql', 'SELECT 1');
  writeMigration('2.sql');
  const changed = '1.sql changed: npm run reset empties the store';
  expect(await build()).toEqual(['packed', changed, 2000, SET_UP, GUIDE]);
  expect(await build()).toEqual(['packed', changed, GUIDE]);
  const call = ['local', ['d1', 'migrations', 'apply', 'DB', '--local']];
  expect(runWranglerIn.mock.calls).toEqual([call, call]);
});

test('a build while the store is served applies no migration, and names it', async () => {
  const { build, runtime, runWranglerIn } = await createStore(true);
  const pending = 'Press Ctrl-C, and npm start applies 1.sql';
  expect(await build()).toEqual(['packed', pending, SERVED]);
  expect(runWranglerIn).not.toHaveBeenCalled();
  runtime.close();
});

test('a deployment packs the client, and sets no store up', async () => {
  const { build } = await createStore();
  expect(await build('deploy')).toEqual(['packed']);
});

test.each([
  [
    false,
    { code: 0, stdout: 'The local store is empty. npm start sets it up again.\n', stderr: '' },
  ],
  [
    true,
    { code: 1, stdout: '', stderr: 'error: the store is in use: stop wrangler dev (Ctrl-C)\n' },
  ],
])('reset empties all of the store, unless it is in use (%s)', async (inUse, result) => {
  const rmSync = vi.fn();
  const mocks = { '../../ops/local/store.ts': { isInUse: () => inUse }, 'node:fs': { rmSync } };
  expect(await runInProcess('reset.ts', mocks, [])).toEqual(result);
  const call = [join(ROOT, '.wrangler'), { recursive: true, force: true }];
  expect(rmSync.mock.calls).toEqual(inUse ? [] : [call]);
});

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

test('a million pets are accepted', async () => {
  const run = vi.fn();
  const DatabaseSync = class {
    prepare = () => ({ run });
    close() {}
  };
  const mocks = {
    '../../ops/local/store.ts': { DATABASES: '', setUpLocalStore: () => {} },
    'node:sqlite': { DatabaseSync },
  };
  const { stdout } = await runInProcess('seed.ts', mocks, ['--pets', '1000000']);
  expect([stdout, run.mock.calls]).toEqual(['1000000 animals were added.\n', [[1_000_000]]]);
});
