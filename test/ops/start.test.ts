import { createServer } from 'node:net';
import { expect, test } from 'vitest';
import { LOCAL_KEY } from '../../ops/local-store.ts';
import { copyProject, freePort } from './project.ts';

const project = copyProject();

/** Starts the store, waits for the address that it prints, and calls the store there. */
async function start(port: number) {
  const store = project.start('start.ts', ['--port', String(port)]);
  const deadline = Date.now() + 25_000;
  while (!store.stdout().includes('curl -i')) {
    if (Date.now() > deadline) throw new Error(`not started:\n${store.stdout()}${store.stderr()}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
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

test('starts, keeps its data over a restart, and is emptied by reset, and takes new keys, while it runs', async () => {
  const port = await freePort();
  const first = await start(port);
  expect(await (await first.call()).json()).toEqual([]);
  const body = JSON.stringify({ name: 'Rex', categoryId: 1 });
  const rex = { id: 1, name: 'Rex', categoryId: 1 };
  expect(await (await first.call({ method: 'POST', body })).json()).toEqual(rex);
  await first.stop();

  const second = await start(port);
  expect(await (await second.call()).json()).toEqual([rex]);
  expect(await project.run('reset.ts', ['--help'])).toMatchObject({ code: 2, stdout: '' });
  expect(await (await second.call()).json()).toEqual([rex]);
  expect(await project.run('reset.ts')).toMatchObject({ code: 0 });
  expect(await (await second.call()).json()).toEqual([]);
  expect(await (await second.call({ method: 'POST', body })).json()).toEqual(rex);

  const create = async () =>
    JSON.parse((await project.run('keys.ts', ['create', '--label', 'x', '--json'])).stdout);
  const [kept, revoked] = [await create(), await create()];
  expect(await project.run('keys.ts', ['revoke', revoked.id])).toMatchObject({ code: 0 });
  expect((await second.call({}, kept.key)).status).toBe(200);
  expect(await (await second.call({}, revoked.key)).json()).toMatchObject({
    code: 'revoked_api_key',
  });
  await second.stop();
});

test.each([
  [['--port', '0']],
  [['--port', 'http']],
  [['--port']],
  [['--prot', '8787']],
  [['8787']],
])('refuses the arguments %j in one line', async (args) => {
  const { code, stdout, stderr } = await project.run('start.ts', args);
  expect([code, stdout]).toEqual([2, '']);
  expect(stderr).toMatch(/^usage: npm start .*\n$/);
});

test('says that a port is taken', async () => {
  const port = await freePort();
  const other = createServer();
  await new Promise<void>((resolve) => other.listen(port, 'localhost', resolve));
  const { code, stderr } = await project.run('start.ts', ['--port', String(port)]);
  await new Promise((resolve) => other.close(resolve));
  expect(code).toBe(1);
  expect(stderr).toBe(`Port ${port} is taken. Choose another: npm start -- --port ${port + 1}\n`);
});
