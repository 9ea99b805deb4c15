import { createServer } from 'node:net';
import { expect, test } from 'vitest';
import { LOCAL_KEY } from '../../ops/local/store.ts';
import { copyProject, freePort } from './project.ts';

const project = copyProject();

/** Starts the store, and waits for its address in the output. */
async function start(port: number) {
  const store = project.start('start.ts', ['--port', String(port)]);
  await expect.poll(store.stdout, { interval: 50, timeout: 120_000 }).toContain('curl -i');
  const base = /^ +(http:\S+\/v1)$/m.exec(store.stdout())?.[1];
  expect(base).toBe(`http://localhost:${port}/v1`);
  expect(store.stdout()).toContain(`curl -i ${base}/pets -H 'Authorization: Bearer ${LOCAL_KEY}'`);
  return {
    call: (init: RequestInit = {}, key = LOCAL_KEY) =>
      fetch(`${base}/pets`, {
        ...init,
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      }),
    async stop() {
      store.process.kill('SIGTERM');
      await store.exited;
    },
  };
}

// `npm run test:kill` restarts the store on the same data.
test('a running store can be called, seeded, reset and tested, and accepts new keys', async () => {
  const port = await freePort();
  const store = await start(port);
  const body = JSON.stringify({ name: 'Rex', categoryId: 1 });
  const rex = { id: 1, name: 'Rex', categoryId: 1 };
  expect(await (await store.call({ method: 'POST', body })).json()).toEqual(rex);

  const seeded = await project.run('seed.ts', ['--pets', '2', '--orders', '2']);
  expect(seeded).toMatchObject({ code: 0, stderr: '' });
  expect(seeded.stdout).toMatch(
    /^2 animals were added; the last id is 3\. .*\n2 orders were added; the last id is 2\./,
  );
  expect(await (await store.call()).json()).toEqual([
    rex,
    { id: 2, name: 'Animal 1', categoryId: 1, status: 'available' },
    { id: 3, name: 'Animal 2', categoryId: 2, status: 'pending' },
  ]);

  expect(await project.run('reset.ts', ['--env'])).toMatchObject({ code: 2, stdout: '' });
  const help = { code: 0, stdout: expect.stringMatching(/^usage: npm run reset/), stderr: '' };
  expect(await project.run('reset.ts', ['--help'])).toEqual(help);
  expect(await (await store.call()).json()).toHaveLength(3);
  expect(await project.run('reset.ts')).toMatchObject({ code: 0 });
  expect(await (await store.call()).json()).toEqual([]);
  expect(await (await store.call({ method: 'POST', body })).json()).toEqual(rex);

  const created = await project.run('keys.ts', ['create', '--label', 'x', '--json']);
  const { id, key } = JSON.parse(created.stdout);
  expect((await store.call({}, key)).status).toBe(200);
  const listed = await project.run('keys.ts', ['list', '--json']);
  expect(JSON.parse(listed.stdout)).toMatchObject([{ id: 'local' }, { id, state: 'active' }]);

  const stdout = `Testing http://localhost:${port}/v1\nThe smoke test passed.\n`;
  expect(await project.run('release.ts', ['smoke'])).toEqual({ code: 0, stdout, stderr: '' });
  await store.stop();
  const stderr = 'error: no local store is running: start it with npm start\n';
  expect(await project.run('release.ts', ['smoke'])).toEqual({ code: 1, stdout: '', stderr });
});

test.each([
  [['--port', '0']],
  [['--port', 'http']],
  [['--port']],
  [['--prot', '8787']],
  [['8787']],
])('rejects the arguments %j in one line', async (args) => {
  const { code, stdout, stderr } = await project.run('start.ts', args);
  expect([code, stdout]).toEqual([2, '']);
  expect(stderr).toMatch(/^usage: npm start .*\n$/);
});

test('a port in use is an error that names another port', async () => {
  const port = await freePort();
  const other = createServer();
  await new Promise<void>((resolve) => other.listen(port, 'localhost', resolve));
  const { code, stderr } = await project.run('start.ts', ['--port', String(port)]);
  await new Promise((resolve) => other.close(resolve));
  expect(code).toBe(1);
  expect(stderr).toBe(`Port ${port} is in use. Choose another: npm start -- --port ${port + 1}\n`);
});
