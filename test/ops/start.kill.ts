import { execFileSync } from 'node:child_process';
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
