/** The set-up of the local store, with a fake of wrangler. local.slow.ts runs the real one. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, expect, test, vi } from 'vitest';
import { importWith } from '../command.ts';
import { temporaryFolder } from '../project.ts';

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
  const mocks = {
    '../../ops/command/project-root.ts': { PROJECT_ROOT },
    '../../ops/command/wrangler.ts': { runWranglerIn },
    '../../ops/local/client-package.ts': { packClient: () => {} },
    '../../ops/keys/records.ts': { writeRecord: async () => {} },
    'node:timers/promises': { setTimeout: async () => {} },
  };
  const print = vi.spyOn(console, 'log').mockReturnValue();
  vi.spyOn(console, 'error').mockImplementation(print);
  /** As wrangler runs it. Returns the first words of what it prints. */
  const build = async (command = 'dev') => {
    vi.stubEnv('WRANGLER_COMMAND', command);
    print.mockClear();
    await importWith('local/set-up.ts', mocks);
    return print.mock.calls.map(([line]) => String(line).split(/ (?=store)|:/)[0]);
  };
  return { writeMigration, runtime, build, runWranglerIn };
}

const SET_UP = 'Setting up the local';
const GUIDE = 'The local';
const SERVED = 'The';

test('each start prints the guide, and sets up a new store and one with a pending migration', async () => {
  const { writeMigration, build, runWranglerIn } = await createStore();
  expect(await build()).toEqual([SET_UP, GUIDE]);
  expect(await build()).toEqual([GUIDE]);
  writeMigration('2.sql');
  expect(await build()).toEqual([SET_UP, GUIDE]);
  expect(await build()).toEqual([GUIDE]);
  expect(runWranglerIn).toHaveBeenCalledTimes(2);
});

test('a start names a migration that changed after it was applied', async () => {
  const { writeMigration, build } = await createStore();
  await build();
  writeMigration('1.sql', 'SELECT 1');
  expect(await build()).toEqual(['1.sql changed', GUIDE]);
});

test('a build while the store is served applies no migration, and names it', async () => {
  const { build, runtime, runWranglerIn } = await createStore(true);
  expect(await build()).toEqual(['Press Ctrl-C, and npm start applies 1.sql', SERVED]);
  expect(runWranglerIn).not.toHaveBeenCalled();
  runtime.close();
});

test('a deployment sets no store up', async () => {
  const { build } = await createStore();
  expect(await build('deploy')).toEqual([]);
});
