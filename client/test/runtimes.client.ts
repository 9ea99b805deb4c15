/**
 * `npm run test:client`: runs the suite with the installed package in every runtime that has an npm package and in jsdom, and
 * the recipes of client/README.md. Installs the runtimes first, about 100 MB each, into a folder that is kept.
 */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { convertV4MiniflareOptions, fetch as fetchOfMiniflare, Miniflare } from 'miniflare';
import { beforeAll, expect, test } from 'vitest';
import { PROJECT_ROOT } from '../../ops/command/project-root.ts';
import { programIn, sectionOf } from './documents.ts';
import { startServers } from './rude-server.ts';
import { bundle, compile, install, installClient, runIn } from './tools.ts';

const CACHE = 'node_modules/.cache/client-runtimes';

const { arch } = process;
const platform = process.platform === 'win32' ? 'windows' : process.platform;
const nodePrefix = `${platform}-${arch}` === 'darwin-arm64' ? 'node-bin' : 'node';
const node = `${nodePrefix}-${platform === 'windows' ? 'win' : platform}-${arch}`;
const bun = `@oven/bun-${platform}-${arch === 'arm64' ? 'aarch64' : arch}`;
const deno = `@deno/${process.platform}-${arch}${platform === 'linux' ? '-glibc' : ''}`;
const denoCommand = 'deno" run --allow-net --allow-read --node-modules-dir=manual';
const RUNTIMES = [
  { from: node, version: '22.23.3', command: 'bin/node"' },
  { from: node, version: '24.21.0', command: 'bin/node"' },
  { from: node, version: '26.10.0', command: 'bin/node"' },
  { from: bun, version: '1.4.5', command: 'bin/bun"' },
  { from: deno, version: '2.9.6', command: denoCommand },
];

const SUITE = `
  import * as client from 'animal-store-client';
  import { runSuite } from './suite.ts';
  const { Bun, Deno } = globalThis;
  const version = Bun?.version ?? Deno?.version.deno ?? process.versions.node;
  const failures = await runSuite(client, JSON.parse(process.argv.at(-1)), true);
  console.log(JSON.stringify({ version, failures }));`;

const WORKER = `
  import * as client from '../src/index.ts';
  import { runSuite } from './suite.ts';
  export default {
    fetch: async (request) => Response.json(await runSuite(client, await request.json(), false)),
  };`;

/** In a window of jsdom: the suite, and the examples of testing. */
const IN_WINDOW = `
  import * as client from 'animal-store-client';
  import { runSuite } from './suite.ts';
  const { createAnimalStore, StoreError, stringifyJson } = client;
  globalThis.run = async (addresses) => {
    const shown = [];
    const console = { log: (value) => shown.push(stringifyJson(value)) };
    ${sectionOf('Testing')}
    return { shown, failures: await runSuite(client, addresses, true) };
  };`;

/** Opens the window, which has no `fetch` and no `Response`. The `fetch` of Node.js rejects a signal of jsdom. */
const jsdomWith = (path: string, script: string) => `
  const { default: { JSDOM } } = await import(${JSON.stringify(path)}.toString());
  const { window } = new JSDOM('', { url: 'http://localhost', runScripts: 'outside-only' });
  window.fetch = (url, init) => {
    const controller = new AbortController();
    init.signal.addEventListener('abort', () => controller.abort());
    return fetch(url, { ...init, signal: controller.signal });
  };
  window.eval(${JSON.stringify(script)});
  const result = await window.run(JSON.parse(process.argv.at(-1)));
  console.log(JSON.stringify({ hasResponse: 'Response' in window, ...result }));
  window.close();`;

/** The recipes as one program, and what shows that they work. (React 18 renders no bigint.) */
const RECIPES = `
  import { renderToString } from 'react-dom/server';
  import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
  import { createAnimalStore } from 'animal-store-client';
  const { store: baseUrl, apiKey } = JSON.parse(process.argv.at(-1));
  const store = createAnimalStore({ baseUrl, apiKey });
  ${programIn('tsx')}
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
const { folder } = installClient();
beforeAll(async () => {
  const runtimes = RUNTIMES.map(({ from, version }) => `runtime-${version}@npm:${from}@${version}`);
  await install(
    join(PROJECT_ROOT, CACHE),
    `typescript@5.4.5 jsdom@31.0.1 ky@2.1.0 ${runtimes.join(' ')}`,
  );
});

/** Runs a program in the user's project with the addresses as its argument, and returns what it prints, as JSON. */
async function print(program: string, command?: string): Promise<unknown> {
  const argument = JSON.stringify(JSON.stringify(await addresses()));
  const { stdout, stderr } = await runIn(folder, program, command, argument);
  expect(stderr).toBe('');
  return JSON.parse(stdout);
}

test.each(RUNTIMES)('the suite passes in $from $version', async ({ version, command }) => {
  const path = join(PROJECT_ROOT, CACHE, 'node_modules', `runtime-${version}`, command);
  expect(await print(SUITE, `"${path}`)).toEqual({ version, failures: [] });
});

test('the suite and the examples of testing pass in jsdom', async () => {
  const script = await bundle(IN_WINDOW, { format: 'iife' });
  const path = join(PROJECT_ROOT, CACHE, 'node_modules/jsdom/lib/api.js');
  expect(await print(jsdomWith(pathToFileURL(path).href, script))).toEqual({
    hasResponse: false,
    shown: ['[{"id":7,"name":"Tom","categoryId":1}]', '404'],
    failures: [],
  });
});

test.each([`${CACHE}/node_modules/typescript`, 'client/node_modules/typescript'])(
  'the examples of README.md compile with the older TypeScript in %s',
  async (typescript) => {
    const options = { lib: ['ES2022', 'DOM'], types: [] };
    expect(await compile(folder, typescript, options)).toBe('');
  },
);

test('the suite passes in a Worker', async () => {
  // Not wrangler's harness: there, requests of the worker go through the fetch of Node.js.
  const script = await bundle(WORKER);
  const options = { modules: true, script, compatibilityDate: '2026-11-01' };
  const worker = new Miniflare(convertV4MiniflareOptions(options));
  const init = { method: 'POST', body: JSON.stringify(await addresses()) };
  const response = await worker.dispatchFetch('http://worker.example', init);
  expect(await response.json()).toEqual([]);
  await worker.dispose();
});

test('the recipe of README.md with a service binding works in a Worker', async () => {
  const { store, apiKey } = await addresses();
  const options = {
    modules: true,
    script: await bundle(programIn('js')),
    compatibilityDate: '2026-11-01',
    bindings: { API_KEY: apiKey },
    serviceBindings: {
      STORE: ({ url, method, headers }: Request) =>
        fetchOfMiniflare(url.replace('https://api.animal-store.example/v1', store), {
          method,
          headers: Object.fromEntries(headers),
        }),
    },
  };
  const worker = new Miniflare(convertV4MiniflareOptions(options));
  const response = await worker.dispatchFetch('http://worker.example');
  expect(await response.json()).toEqual(expect.any(Array));
  await worker.dispose();
});

test('the recipe of README.md with ky works', async () => {
  const { store, apiKey } = await addresses();
  const ky = pathToFileURL(join(PROJECT_ROOT, CACHE, 'node_modules/ky/distribution/index.js'));
  const program = programIn('mjs')
    .replace("'ky'", JSON.stringify(ky.href))
    .replace('http://localhost:8787/v1', store)
    .replace(/animal_local_\w+/, apiKey);
  const printed = { status: 0, stdout: 'pet_not_found\n', stderr: '' };
  expect(await runIn(folder, program)).toEqual(printed);
});

test('the recipes of README.md show every digit in Express, React and TanStack Query', async () => {
  expect(await print(RECIPES)).toEqual({
    type: expect.stringContaining('application/json'),
    text: '[{"id":1,"name":"Rex","categoryId":9007199254740993}]',
    row: '<li>1 Rex</li>',
    order: 'pending',
  });
});
