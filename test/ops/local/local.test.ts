/** The set-up of the local store, with a fake of wrangler. local.slow.ts runs the real one. */
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, expect, test, vi } from 'vitest';
import { importWith, runInProcess } from '../../support/command.ts';
import { temporaryFolder } from '../../support/project.ts';

afterEach(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
});

/** A project with one migration, and a wrangler that records its calls. `open`: a runtime has opened the store. */
async function createStore(open = false) {
  const PROJECT_ROOT = await temporaryFolder();
  const folder = join(PROJECT_ROOT, '.wrangler/state/v3/d1/miniflare-D1DatabaseObject');
  mkdirSync(folder, { recursive: true });
  mkdirSync(join(PROJECT_ROOT, 'migrations'));
  const addMigration = (name: string) => writeFileSync(join(PROJECT_ROOT, 'migrations', name), '');
  addMigration('0001_a.sql');
  const runtime = new DatabaseSync(join(folder, 'metadata.sqlite'));
  runtime.exec('PRAGMA journal_mode = WAL; CREATE TABLE t (id)');
  if (!open) runtime.close();
  const runWranglerIn = vi.fn(async () => '');
  const mocks = {
    '../../ops/command/project-root.ts': { PROJECT_ROOT },
    '../../ops/command/wrangler.ts': { runWranglerIn },
    '../../ops/local/client-package.ts': { packClient: () => {} },
    '../../ops/keys/records.ts': { writeRecord: async () => {} },
  };
  const log = vi.spyOn(console, 'log').mockReturnValue();
  /** As wrangler runs it. Returns how often it applied migrations. */
  const build = async (command = 'dev') => {
    vi.stubEnv('WRANGLER_COMMAND', command);
    runWranglerIn.mockClear();
    await importWith('local/set-up.ts', mocks);
    return runWranglerIn.mock.calls.length;
  };
  return { PROJECT_ROOT, mocks, addMigration, runtime, build, log };
}

test('a start sets the store up, again only after a new migration or an empty store', async () => {
  const { PROJECT_ROOT, addMigration, build, log } = await createStore();
  expect(await build()).toBe(1);
  expect(log).toHaveBeenLastCalledWith(expect.stringContaining('/docs\ncurl '));
  expect(await build()).toBe(0);
  addMigration('0002_b.sql');
  expect(await build()).toBe(1);
  rmSync(join(PROJECT_ROOT, '.wrangler/state/set-up'));
  expect(await build()).toBe(1);
});

test('a deployment sets no store up, nor does a build while the store is served', async () => {
  const { build, runtime } = await createStore(true);
  expect(await build('deploy')).toBe(0);
  expect(await build()).toBe(0);
  runtime.close();
  expect(await build()).toBe(1);
});

test('reset deletes the store, unless it is served', async () => {
  const { PROJECT_ROOT, mocks, runtime } = await createStore(true);
  const stderr = 'error: the store is in use: stop wrangler dev (Ctrl-C)\n';
  expect(await runInProcess('reset.ts', mocks, [])).toEqual({ code: 1, stdout: '', stderr });
  runtime.close();
  expect(await runInProcess('reset.ts', mocks, [])).toMatchObject({ code: 0 });
  expect(existsSync(join(PROJECT_ROOT, '.wrangler'))).toBe(false);
});
