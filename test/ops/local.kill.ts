/** The local store when its process is killed, and when its files are damaged. */
import { existsSync } from 'node:fs';
import { readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { copyProject, freePort } from './project.ts';

const project = copyProject();

/** Starts the store as npm does: in a child process that is not ended with its parent. */
const SHELL = `
  import { spawn } from 'node:child_process';
  const args = ['ops/local/start.ts', '--port', process.argv[2]];
  spawn(process.execPath, args, { stdio: 'inherit' });`;

beforeEach(() => rm(join(project.path(), '.wrangler'), { recursive: true, force: true }));

test('a store stops when the process that started it is killed, and can be started again', async () => {
  await writeFile(join(project.path(), 'ops/shell.ts'), SHELL);
  const port = await freePort();
  const shell = project.start('shell.ts', [String(port)]);
  await shell.printed('curl -i');
  shell.process.kill('SIGKILL');
  // Its output ends when its child has ended.
  await shell.exited;
  await expect(fetch(`http://localhost:${port}/health`)).rejects.toThrow();

  const again = project.start('local/start.ts', ['--port', String(port)]);
  await again.printed('curl -i');
});

test('npm start names npm run reset when files are damaged, and npm run reset deletes them', async () => {
  const state = join(project.path(), '.wrangler/state');
  const args = ['--port', String(await freePort())];
  const damaged = {
    code: 1,
    stderr: expect.stringMatching(
      /^error: .* \(If the local store is damaged: npm run reset\)\n$/m,
    ),
  };
  expect(await project.run('local/seed.ts', ['--pets', '1'])).toMatchObject({ code: 0 });
  const entries = await readdir(state, { recursive: true });
  // SQLite would restore a database from its log.
  for (const name of entries.filter((entry) => entry.endsWith('-wal'))) await rm(join(state, name));
  const databases = entries.filter((name) => name.endsWith('.sqlite'));
  expect(databases.length).toBeGreaterThan(1);
  for (const name of databases) await writeFile(join(state, name), 'garbage '.repeat(99));
  expect(await project.run('local/start.ts', args)).toMatchObject(damaged);
  const emptied = { code: 0, stdout: expect.stringContaining('is empty'), stderr: '' };
  expect(await project.run('local/reset.ts')).toEqual(emptied);
  expect(existsSync(state)).toBe(false);
});
