import { execFileSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { copyProject, freePort } from './project.ts';

const project = copyProject();

test('a store stops when its npm start or its server is killed, and can be started again', async () => {
  const port = await freePort();
  const isServed = () =>
    fetch(`http://localhost:${port}/health`).then(
      () => true,
      () => false,
    );
  const start = async () => {
    const store = project.start('start.ts', ['--port', String(port)]);
    await expect.poll(store.stdout, { timeout: 120_000 }).toContain('curl -i');
    return store;
  };
  const store = await start();
  expect(await isServed()).toBe(true);
  store.process.kill('SIGKILL');
  await expect.poll(isServed).toBe(false);
  const again = await start();
  expect(await isServed()).toBe(true);
  // The child of npm start: its own child, the runtime, would continue to serve.
  const server = execFileSync('pgrep', ['-P', String(again.process.pid)], { encoding: 'utf8' });
  process.kill(Number(server), 'SIGKILL');
  await again.exited;
  expect(await isServed()).toBe(false);
});

/** Starts `npm start` as npm does: as a child that is not ended with its parent. */
const PARENT = `
  import { spawn } from 'node:child_process';
  const args = ['ops/start.ts', '--port', process.argv[2]];
  spawn(process.execPath, args, { stdio: 'inherit' });`;

test('a store is not served when its parent is killed during the set-up', async () => {
  await writeFile(join(project.path(), 'ops/parent.ts'), PARENT);
  const parent = project.start('parent.ts', [String(await freePort())]);
  await expect.poll(parent.stdout).toContain('Setting up');
  parent.process.kill('SIGKILL');
  // Its output ends when its child has ended.
  await parent.exited;
  expect(parent.stdout()).not.toContain('curl -i');
});
