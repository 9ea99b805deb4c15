/**
 * `npm run test:client`: runs the suite with the packed and installed client in every runtime that has an npm
 * package. Installs the runtimes first, about 100 MB each, into a folder that is kept.
 */
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { PROJECT_ROOT } from '../../ops/wrangler.ts';
import type { Outcome } from './elsewhere.ts';
import { runNpm } from './npm.ts';
import { bundle, serveControl } from './remote.ts';
import { startControlledStore } from './store-under-test.ts';
import { suite } from './suite.ts';

const FOLDER = join(PROJECT_ROOT, 'node_modules/.cache/client-runtimes');
const SUITE = join(FOLDER, 'suite.mjs');

const { platform, arch } = process;
const isWindows = platform === 'win32';
const exe = isWindows ? '.exe' : '';

/** The package that the npm package `node` would install by its script. */
function node(version: string) {
  const os = isWindows ? 'win' : platform;
  const prefix = `${os}-${arch}` === 'darwin-arm64' ? 'node-bin' : 'node';
  return {
    name: `Node.js ${version}`,
    package: `${prefix}-${os}-${arch}`,
    version,
    file: `bin/node${exe}`,
  };
}
function bun(version: string) {
  const cpu = arch === 'arm64' ? 'aarch64' : arch;
  const os = isWindows ? 'windows' : platform;
  return {
    name: `Bun ${version}`,
    package: `@oven/bun-${os}-${cpu}`,
    version,
    file: `bin/bun${exe}`,
  };
}
function deno(version: string) {
  const libc = platform === 'linux' ? '-glibc' : '';
  return {
    name: `Deno ${version}`,
    package: `@deno/${platform}-${arch}${libc}`,
    version,
    file: `deno${exe}`,
  };
}

const RUNTIMES = [
  { ...node('20.20.2'), args: [SUITE] },
  { ...node('22.23.3'), args: [SUITE] },
  { ...node('24.21.0'), args: [SUITE] },
  { ...bun('1.4.5'), args: [SUITE] },
  {
    ...deno('2.9.6'),
    args: ['run', '--allow-net', '--allow-read', '--node-modules-dir=manual', SUITE],
  },
].map((runtime) => {
  const folder = join(FOLDER, runtime.name.replace(' ', '-'));
  return {
    ...runtime,
    folder,
    command: join(folder, 'node_modules', runtime.package, runtime.file),
  };
});

function installInto(folder: string, what: string): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{ "private": true }');
  const options = ['--no-workspaces', '--prefer-offline', '--ignore-scripts', '--no-audit'];
  runNpm('install', ...options, '--prefix', folder, what);
}

const { store, control } = startControlledStore();
let controlServer: Awaited<ReturnType<typeof serveControl>>;

beforeAll(async () => {
  for (const { folder, command, ...runtime } of RUNTIMES)
    if (!existsSync(command)) installInto(folder, `${runtime.package}@${runtime.version}`);

  rmSync(join(FOLDER, 'node_modules'), { recursive: true, force: true });
  runNpm('run', 'build', '--workspace', 'client');
  const [{ filename }] = JSON.parse(
    runNpm(
      'pack',
      '--ignore-scripts=false',
      '--json',
      '--workspace',
      'client',
      '--pack-destination',
      FOLDER,
    ),
  );
  installInto(FOLDER, join(FOLDER, filename));
  const script = `
    import * as client from 'animal-store-client';
    import { remoteControl, runSuite } from './elsewhere.ts';
    const [baseUrl, controlAddress] = process.argv.slice(2);
    const outcomes = await runSuite(client, baseUrl, remoteControl(controlAddress));
    const { Bun, Deno } = globalThis;
    const version = Bun?.version ?? Deno?.version.deno ?? process.versions.node;
    console.log(JSON.stringify({ version, outcomes }));`;
  writeFileSync(SUITE, await bundle(script, { external: ['animal-store-client'] }));
  controlServer = await serveControl(control);
});
afterAll(() => controlServer.close());

test.each(RUNTIMES)('the suite passes in $name', async ({ version, command, args }) => {
  const addresses = [`${store.url()}/v1`, controlServer.address];
  const child = spawn(command, [...args, ...addresses], { stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  child.stdout.on('data', (chunk) => (output += chunk));
  expect(await new Promise((resolve) => child.on('close', resolve))).toBe(0);
  const result: { version: string; outcomes: Outcome[] } = JSON.parse(output);
  expect(result.version).toBe(version);
  expect(result.outcomes.map(({ name }) => name)).toEqual(Object.keys(suite));
  expect(result.outcomes.filter(({ error }) => error)).toEqual([]);
});
