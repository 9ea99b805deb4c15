import { createServer } from 'node:net';
import { expect, test } from 'vitest';
import { LOCAL_KEY } from '../../ops/local/store.ts';
import { copyProject, freePort } from './project.ts';

const project = copyProject();

/** Runs a command that must succeed, and returns its output. */
async function run(script: string, ...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await project.run(script, args);
  expect([code, stderr]).toEqual([0, '']);
  return stdout;
}

test('a fresh clone: start, call, seed, issue a key, stop, reset', async () => {
  const port = await freePort();
  const store = project.start('local/start.ts', ['--port', String(port)]);
  await store.printed('curl -i');
  const base = `http://localhost:${port}/v1`;
  expect(store.stdout()).toContain(`curl -i ${base}/pets -H 'Authorization: Bearer ${LOCAL_KEY}'`);
  const call = (init: RequestInit = {}, key = LOCAL_KEY) =>
    fetch(`${base}/pets`, {
      ...init,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    });
  const body = JSON.stringify({ name: 'Rex', categoryId: 1 });
  expect((await call({ method: 'POST', body })).status).toBe(201);

  const seeded = await run('local/seed.ts', '--pets', '2');
  expect(seeded).toBe('2 animals were added.\n');
  expect(await (await call()).json()).toEqual([
    { id: 1, name: 'Rex', categoryId: 1 },
    { id: 2, name: 'Animal 1', categoryId: 1, status: 'available' },
    { id: 3, name: 'Animal 2', categoryId: 2, status: 'pending' },
  ]);

  const created = await project.run('keys.ts', ['create', '--label', 'Anna']);
  expect((await call({}, created.stdout.trimEnd())).status).toBe(200);
  expect(await run('keys.ts', 'list')).toMatch(/'local'[\s\S]*'Anna'/);

  for (const script of ['local/start.ts', 'local/reset.ts']) {
    const { code, stderr } = await project.run(script);
    expect(code).toBe(1);
    expect(stderr).toBe(
      'error: the store of this folder is running: stop it (Ctrl-C), or use another clone\n',
    );
  }
  expect(await (await call()).json()).toHaveLength(3);

  store.process.kill('SIGINT');
  expect(await store.exited).toBe(0);
  expect(await run('local/reset.ts')).toBe(
    'The local store is empty. npm start sets it up again.\n',
  );
});

test('a port in use is an error that names another port', async () => {
  const port = await freePort();
  const other = createServer();
  await new Promise<void>((resolve) => other.listen(port, 'localhost', resolve));
  const { code, stderr } = await project.run('local/start.ts', ['--port', String(port)]);
  await new Promise((resolve) => other.close(resolve));
  const problem = `port ${port} is in use. Choose another: npm start -- --port <number>`;
  expect([code, stderr]).toEqual([1, `error: ${problem}\n`]);
});
