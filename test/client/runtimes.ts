/**
 * The suite of the client, as it is packed and installed, in every runtime that npm has a package of. Installs
 * them first, some 100 MB each, into a folder that is kept: `npm run test:runtimes`.
 */
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { PROJECT_ROOT } from '../../ops/wrangler.ts';
import { bundle, serveControl } from './remote.ts';
import { startControlledStore } from './store-under-test.ts';

const FOLDER = join(PROJECT_ROOT, 'node_modules/.cache/client-runtimes');
const SUITE = join(FOLDER, 'suite.mjs');

const platform = process.platform === 'win32' ? 'win' : process.platform;
const prefix = `${platform}-${process.arch}` === 'darwin-arm64' ? 'node-bin' : 'node';
/** What the npm package `node` would install, without its script. */
const nodePackage = `${prefix}-${platform}-${process.arch}`;
const nodeFile = platform === 'win' ? 'node.exe' : 'node';

const RUNTIMES = ['20.20.2', '22.23.3', '24.21.0'].map((version) => ({
  name: `Node.js ${version}`,
  folder: join(FOLDER, `node-${version}`),
  install: `${nodePackage}@${version}`,
  command: join(FOLDER, `node-${version}/node_modules/${nodePackage}/bin/${nodeFile}`),
}));

function npm(...args: string[]): string {
  const path = process.env.npm_execpath;
  if (!path) throw new Error('run it through npm: npm run test:runtimes');
  const options = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
  const { status, stdout } = spawnSync(process.execPath, [path, ...args, ...options], {
    cwd: PROJECT_ROOT,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  if (status !== 0) throw new Error(`npm ${args.join(' ')} failed`);
  return stdout;
}

function installInto(folder: string, what: string): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{ "private": true }');
  npm('install', '--no-workspaces', '--prefer-offline', '--prefix', folder, what);
}

const { store, control } = startControlledStore();
let controlServer: Awaited<ReturnType<typeof serveControl>>;

beforeAll(async () => {
  for (const { folder, install, command } of RUNTIMES)
    if (!existsSync(command)) installInto(folder, install);

  rmSync(join(FOLDER, 'node_modules'), { recursive: true, force: true });
  npm('run', 'build', '--workspace', 'client');
  const [{ filename }] = JSON.parse(
    npm('pack', '--json', '--workspace', 'client', '--pack-destination', FOLDER),
  );
  installInto(FOLDER, join(FOLDER, filename));
  const script = `
    import * as client from 'animal-store-client';
    import { remoteControl, runSuite } from './elsewhere.ts';
    const [baseUrl, controlAddress] = process.argv.slice(2);
    const outcomes = await runSuite(client, baseUrl, remoteControl(controlAddress));
    console.log(JSON.stringify({ version: process.version, outcomes }));`;
  writeFileSync(SUITE, await bundle(script, { external: ['animal-store-client'] }));
  controlServer = await serveControl(control);
});
afterAll(() => controlServer.close());

test.each(RUNTIMES)('the suite passes in $name', async ({ name, command }) => {
  const args = [SUITE, `${store.url()}/v1`, controlServer.address];
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  child.stdout.on('data', (chunk) => (output += chunk));
  expect(await new Promise((resolve) => child.on('close', resolve))).toBe(0);
  const { version, outcomes } = JSON.parse(output);
  expect(`Node.js ${version}`).toBe(name.replace(' ', ' v'));
  expect(outcomes.length).toBeGreaterThan(50);
  expect(outcomes.filter(({ error }: { error?: string }) => error)).toEqual([]);
});
