import { expect, test } from 'vitest';
import { copyProject, freePort } from './project.ts';

const project = copyProject();

test('a store stops when its npm start is killed, and can be started again', async () => {
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
  await start();
  expect(await isServed()).toBe(true);
});
