/**
 * `npm run test:slow`: runs the suite with the installed package in every runtime that has an npm package, and in a Worker.
 * Installs the runtimes first, about 100 MB each, into a folder that is kept.
 */
import { join } from 'node:path';
import { convertV4MiniflareOptions, Miniflare } from 'miniflare';
import { beforeAll, expect, test } from 'vitest';
import { PROJECT_ROOT } from '../../ops/command/project-root.ts';
import { startServers } from './rude-server.ts';
import { bundle, install, installClient, runIn } from './tools.ts';

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
  const failures = await runSuite(client, JSON.parse(process.argv.at(-1)), !Bun && !Deno);
  console.log(JSON.stringify({ version, failures }));`;

const WORKER = `
  import * as client from '../src/index.ts';
  import { runSuite } from './suite.ts';
  export default {
    fetch: async (request) => Response.json(await runSuite(client, await request.json(), false)),
  };`;

const addresses = startServers();
const folder = installClient();
beforeAll(async () => {
  const runtimes = RUNTIMES.map(({ from, version }) => `runtime-${version}@npm:${from}@${version}`);
  await install(join(PROJECT_ROOT, CACHE), runtimes.join(' '));
});

test.each(RUNTIMES)('the suite passes in $from $version', async ({ version, command }) => {
  const path = join(PROJECT_ROOT, CACHE, 'node_modules', `runtime-${version}`, command);
  const argument = JSON.stringify(JSON.stringify(await addresses()));
  const { stdout, stderr } = await runIn(folder, SUITE, `"${path}`, argument);
  expect(stderr).toBe('');
  expect(JSON.parse(stdout)).toEqual({ version, failures: [] });
});

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
