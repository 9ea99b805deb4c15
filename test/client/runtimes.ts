/**
 * `npm run test:client`: installs the packed client as a user does, and runs the suite with it in every runtime that has
 * an npm package, and the recipes of client/README.md. Installs the runtimes first, about 100 MB each, into a folder
 * that is kept.
 */
import { execFile } from 'node:child_process';
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { convertV4MiniflareOptions, Miniflare } from 'miniflare';
import { beforeAll, expect, test } from 'vitest';
import { PROJECT_ROOT } from '../../ops/wrangler.ts';
import { CONSUMER, README } from './documents.ts';
import { startServers } from './rude-server.ts';
import { bundle, compile, installInto, packClient } from './tools.ts';

/** In the repository, so that the recipes find what they import. */
const CACHE = 'node_modules/.cache/client-runtimes';
const FOLDER = join(PROJECT_ROOT, CACHE);
const SUITE = join(FOLDER, 'suite.mjs');
const RECIPES = join(FOLDER, 'recipes.mjs');

const { arch } = process;
const platform = process.platform === 'win32' ? 'windows' : process.platform;
const exe = platform === 'windows' ? '.exe' : '';
const nodePrefix = `${platform}-${arch}` === 'darwin-arm64' ? 'node-bin' : 'node';
const nodePackage = `${nodePrefix}-${platform === 'windows' ? 'win' : platform}-${arch}`;
const bunPackage = `@oven/bun-${platform}-${arch === 'arm64' ? 'aarch64' : arch}`;
const denoPackage = `@deno/${process.platform}-${arch}${platform === 'linux' ? '-glibc' : ''}`;
const denoArgs = ['run', '--allow-net', '--allow-read', '--node-modules-dir=manual'];
const RUNTIMES = [
  { name: 'Node.js', version: '22.23.3', package: nodePackage, file: 'bin/node', args: [] },
  { name: 'Node.js', version: '24.21.0', package: nodePackage, file: 'bin/node', args: [] },
  { name: 'Node.js', version: '26.10.0', package: nodePackage, file: 'bin/node', args: [] },
  { name: 'Bun', version: '1.4.5', package: bunPackage, file: 'bin/bun', args: [] },
  { name: 'Deno', version: '2.9.6', package: denoPackage, file: 'deno', args: denoArgs },
].map((runtime) => {
  const folder = join(FOLDER, `${runtime.name}-${runtime.version}`);
  const command = join(folder, 'node_modules', runtime.package, `${runtime.file}${exe}`);
  return { ...runtime, folder, command };
});

const TYPESCRIPT = `${CACHE}/TypeScript-5.4.5`;

const SUITE_SCRIPT = `
  import * as client from 'animal-store-client';
  import { runSuite } from './suite.ts';
  const { Bun, Deno } = globalThis;
  const version = Bun?.version ?? Deno?.version.deno ?? process.versions.node;
  const failures = await runSuite(client, JSON.parse(process.argv.at(-1)));
  console.log(JSON.stringify({ version, failures }));`;

const WORKER_SCRIPT = `
  import * as client from '../../client/src/index.ts';
  import { runSuite } from './suite.ts';
  export default {
    fetch: async (request) => Response.json(await runSuite(client, await request.json())),
  };`;

/** The recipes as one program, and what shows that they work. (React 18 renders no bigint.) */
const RECIPES_SCRIPT = `
  import { renderToString } from 'react-dom/server';
  import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
  import { createAnimalStore } from 'animal-store-client';
  const { store: baseUrl, apiKey } = JSON.parse(process.argv.at(-1));
  const store = createAnimalStore({ baseUrl, apiKey });
  ${Array.from(README.matchAll(/```tsx\n(.*?)```/gs), ([, code]) => code).join('')}
  await store.createPet({ name: 'Rex', categoryId: 9007199254740993n });
  const server = app.listen(0);
  const response = await fetch('http://localhost:' + server.address().port + '/pets');
  const text = await response.text();
  server.close();
  const [pet] = parseJson(text);
  const Order = () => useOrder(9007199254740993n).status;
  console.log(JSON.stringify({
    type: response.headers.get('content-type'),
    text,
    row: renderToString(<PetRow pet={pet} />),
    order: renderToString(<QueryClientProvider client={new QueryClient()}><Order /></QueryClientProvider>),
  }));`;

const addresses = startServers();

beforeAll(async () => {
  for (const { folder, command, ...runtime } of RUNTIMES)
    if (!existsSync(command)) installInto(folder, `${runtime.package}@${runtime.version}`);
  const typescript = join(PROJECT_ROOT, TYPESCRIPT);
  if (!existsSync(typescript)) installInto(typescript, 'typescript@5.4.5');

  rmSync(join(FOLDER, 'node_modules'), { recursive: true, force: true });
  installInto(FOLDER, packClient(FOLDER).path);
  writeFileSync(SUITE, await bundle(SUITE_SCRIPT, { external: ['animal-store-client'] }));
  writeFileSync(RECIPES, await bundle(RECIPES_SCRIPT, { packages: 'external' }));
});

/** What the program prints, as JSON. The program gets the addresses as its last argument. */
async function run(command: string, ...args: string[]): Promise<unknown> {
  const { stdout } = await promisify(execFile)(command, [
    ...args,
    JSON.stringify(await addresses()),
  ]);
  return JSON.parse(stdout);
}

test.each(RUNTIMES)('the suite passes in $name $version', async ({ version, command, args }) => {
  expect(await run(command, ...args, SUITE)).toEqual({ version, failures: [] });
});

test('the types compile with TypeScript 5.4', () => {
  const page = { lib: ['ES2022', 'DOM'], types: [] };
  expect(compile(`${TYPESCRIPT}/node_modules/typescript`, FOLDER, page, CONSUMER)).toBe('');
});

test('the suite passes in a Worker', async () => {
  // Not wrangler's harness: there, requests of the worker go through the fetch of Node.js.
  const script = await bundle(WORKER_SCRIPT);
  const options = { modules: true, script, compatibilityDate: '2026-11-01' };
  const worker = new Miniflare(convertV4MiniflareOptions(options));
  const init = { method: 'POST', body: JSON.stringify(await addresses()) };
  const response = await worker.dispatchFetch('http://worker.example', init);
  expect(await response.json()).toEqual([]);
  await worker.dispose();
});

test('the recipes of README.md show every digit in Express, React and TanStack Query', async () => {
  expect(await run(process.execPath, RECIPES)).toEqual({
    type: expect.stringContaining('application/json'),
    text: '[{"id":1,"name":"Rex","categoryId":9007199254740993}]',
    row: '<li>1 Rex</li>',
    order: 'pending',
  });
});
