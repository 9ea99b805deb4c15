import { type ChildProcess, spawn } from 'node:child_process';
import { cp, mkdtemp, rm, symlink } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { LOCAL_KEY } from '../../ops/local-store.ts';
import { PROJECT_ROOT } from '../../ops/wrangler.ts';

/** A copy of the project, so that the developer's own store is left alone. */
let project: string;

beforeAll(async () => {
  project = await mkdtemp(join(tmpdir(), 'animal-store-'));
  for (const part of ['src', 'ops', 'migrations', 'package.json', 'wrangler.toml']) {
    await cp(join(PROJECT_ROOT, part), join(project, part), { recursive: true });
  }
  await symlink(join(PROJECT_ROOT, 'node_modules'), join(project, 'node_modules'), 'junction');
});
afterAll(() => rm(project, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 }));

type Running = { process: ChildProcess; output: () => string; exited: Promise<number | null> };

function run(script: string, args: string[] = []): Running {
  const child = spawn(process.execPath, [join(project, 'ops', script), ...args], {
    cwd: project,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  child.stdout.on('data', (chunk) => (output += chunk));
  child.stderr.on('data', (chunk) => (output += chunk));
  return {
    process: child,
    output: () => output,
    exited: new Promise((resolve) => child.on('close', resolve)),
  };
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, 'localhost', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (typeof address !== 'object' || !address) throw new Error('no port');
  return address.port;
}

/** Starts the store, waits for the address that it prints, and calls the store there. */
async function start(port: number) {
  const store = run('start.ts', ['--port', String(port)]);
  const deadline = Date.now() + 25_000;
  while (!store.output().includes('curl -i')) {
    if (Date.now() > deadline) throw new Error(`not started:\n${store.output()}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  const base = /^ +(http:\S+\/v1)$/m.exec(store.output())?.[1];
  expect(base).toBe(`http://localhost:${port}/v1`);
  expect(store.output()).toContain(`curl -i ${base}/pets -H 'Authorization: Bearer ${LOCAL_KEY}'`);
  return {
    call: (init: RequestInit = {}) =>
      fetch(`${base}/pets`, {
        ...init,
        headers: { authorization: `Bearer ${LOCAL_KEY}`, 'content-type': 'application/json' },
      }),
    async stop() {
      store.process.kill('SIGTERM');
      await store.exited;
    },
  };
}

test('starts, keeps its data over a restart, and is emptied by reset, while it runs, too', async () => {
  const port = await freePort();
  const first = await start(port);
  expect(await (await first.call()).json()).toEqual([]);
  const body = JSON.stringify({ name: 'Rex', categoryId: 1 });
  const rex = { id: 1, name: 'Rex', categoryId: 1 };
  expect(await (await first.call({ method: 'POST', body })).json()).toEqual(rex);
  await first.stop();

  const second = await start(port);
  expect(await (await second.call()).json()).toEqual([rex]);
  expect(await run('reset.ts').exited).toBe(0);
  expect(await (await second.call()).json()).toEqual([]);
  expect(await (await second.call({ method: 'POST', body })).json()).toEqual(rex);
  await second.stop();
}, 60_000);

test.each([
  [['--port', '0']],
  [['--port', 'http']],
  [['--port']],
  [['--prot', '8787']],
  [['8787']],
])('refuses the arguments %j in one line', async (args) => {
  const { exited, output } = run('start.ts', args);
  expect(await exited).toBe(2);
  expect(output()).toMatch(/^usage: npm start .*\n$/);
});

test('says that a port is taken', async () => {
  const port = await freePort();
  const other = createServer().listen(port, 'localhost');
  const { exited, output } = run('start.ts', ['--port', String(port)]);
  expect(await exited).toBe(1);
  expect(output()).toBe(`Port ${port} is taken. Choose another: npm start -- --port ${port + 1}\n`);
  other.close();
});
