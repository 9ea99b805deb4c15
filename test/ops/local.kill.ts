/** The local store when its process is killed, and when its files are damaged. */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { copyProject, freePort, startProcess } from './project.ts';

const project = copyProject();

/** Starts the store as npm does: in a child process that is not ended with its parent. */
const SHELL =
  "require('node:child_process').spawn(process.execPath, process.argv.slice(1), { stdio: 'inherit' })";

test('a store stops when the process that started it is killed, and starts again', async () => {
  const port = `${await freePort()}`;
  const command = ['ops/local/start.ts', '--port', port];
  const shell = startProcess(['--eval', SHELL, '--', ...command], project.path());
  await shell.printed('curl -i');
  shell.process.kill('SIGKILL');
  // Its output ends when its child has ended.
  await shell.exited;
  await expect(fetch(`http://localhost:${port}/health`)).rejects.toThrow();
  await project.start('local/start.ts', ['--port', port]).printed('curl -i');
});

test('npm start fails when wrangler is killed, and leaves no runtime on its port', async () => {
  const port = `${await freePort()}`;
  const store = project.start('local/start.ts', ['--port', port]);
  await store.printed('curl -i');
  const wrangler = execFileSync('pgrep', ['-P', `${store.process.pid}`], { encoding: 'utf8' });
  process.kill(Number(wrangler), 'SIGKILL');
  const { code, stderr } = await store.exited;
  const error =
    'error: wrangler has ended, so the store is no longer served. Start it again: npm start\n';
  expect([code, stderr]).toEqual([1, error]);
  await project.start('local/start.ts', ['--port', port]).printed('curl -i');
});

test('the commands of docs/keys.md can be pasted', async () => {
  const page = readFileSync('docs/keys.md', 'utf8').split('## The commands')[1];
  const [, commands = ''] = /```sh\n(.*?)```/s.exec(page ?? '') ?? [];
  const pasted = commands.replaceAll(
    /npm run (--silent )?keys --/g,
    `"${process.execPath}" ops/keys.ts`,
  );
  // Bash reads the commands from standard input, as from a terminal: a command that reads it takes the next ones away.
  const options = { cwd: project.path(), input: pasted, encoding: 'utf8' } as const;
  const { status, stdout, stderr } = spawnSync('bash', ['-e'], options);
  expect([status, stderr]).toEqual([0, expect.stringContaining('expires at')]);
  expect(stdout).toMatch(
    /^(key_\w{12}) \(Anna's shop\) is active\.$[\s\S]*^Key \1 \(Anna's shop\) is revoked\./m,
  );
});

test('npm start names npm run reset when files are damaged, which deletes them', async () => {
  await project.run('local/seed.ts', ['--pets', '1']);
  const state = join(project.path(), '.wrangler/state');
  const databases = globSync(`${state}/**/*.sqlite*`);
  expect(databases.length).toBeGreaterThan(1);
  for (const name of databases) writeFileSync(name, 'garbage '.repeat(99));
  const { code, stderr } = await project.run('local/start.ts', ['--port', `${await freePort()}`]);
  expect([code, stderr]).toEqual([1, expect.stringMatching('^error: .*: npm run reset\\)\n$')]);
  const stdout = 'The local store is empty. npm start sets it up again.\n';
  expect(await project.run('local/reset.ts')).toEqual({ code: 0, stdout, stderr: '' });
  expect(existsSync(state)).toBe(false);
});
