/**
 * `npm run test:client`: installs the packed client as a user does, and runs the suite with it in every runtime that has
 * an npm package, and the recipes of client/README.md. Installs the runtimes first, about 100 MB each, into a folder
 * that is kept.
 */
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { PROJECT_ROOT } from '../../ops/wrangler.ts';
import { README } from './documents.ts';
import { startServers } from './rude-server.ts';
import { bundle, runNpm } from './tools.ts';

const FOLDER = join(PROJECT_ROOT, 'node_modules/.cache/client-runtimes');
const SUITE = join(FOLDER, 'suite.mjs');
const RECIPES = join(FOLDER, 'recipes.mjs');
/** What the recipes import. React 18 renders no bigint. */
const LIBRARIES = [
  'express@5.3.0',
  'react@18.3.1',
  'react-dom@18.3.1',
  '@tanstack/react-query@5.108.0',
];

const { platform, arch } = process;
const isWindows = platform === 'win32';
const exe = isWindows ? '.exe' : '';
const nodePrefix = `${platform}-${arch}` === 'darwin-arm64' ? 'node-bin' : 'node';
const node = {
  package: `${nodePrefix}-${isWindows ? 'win' : platform}-${arch}`,
  file: `bin/node${exe}`,
  args: [SUITE],
};
const bun = {
  package: `@oven/bun-${isWindows ? 'windows' : platform}-${arch === 'arm64' ? 'aarch64' : arch}`,
  file: `bin/bun${exe}`,
  args: [SUITE],
};
const deno = {
  package: `@deno/${platform}-${arch}${platform === 'linux' ? '-glibc' : ''}`,
  file: `deno${exe}`,
  args: ['run', '--allow-net', '--allow-read', '--node-modules-dir=manual', SUITE],
};
const RUNTIMES = [
  { name: 'Node.js 20', version: '20.20.2', ...node },
  { name: 'Node.js 22', version: '22.23.3', ...node },
  { name: 'Node.js 24', version: '24.21.0', ...node },
  { name: 'Bun', version: '1.4.5', ...bun },
  { name: 'Deno', version: '2.9.6', ...deno },
].map((runtime) => {
  const folder = join(FOLDER, `${runtime.name.split(' ')[0]}-${runtime.version}`);
  const command = join(folder, 'node_modules', runtime.package, runtime.file);
  return { ...runtime, folder, command };
});

function installInto(folder: string, ...packages: string[]): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{ "private": true }');
  const options = ['--no-workspaces', '--prefer-offline', '--ignore-scripts', '--no-audit'];
  runNpm('install', ...options, '--prefix', folder, ...packages);
}

const SUITE_SCRIPT = `
  import * as client from 'animal-store-client';
  import { runSuite } from './suite.ts';
  const { Bun, Deno } = globalThis;
  const version = Bun?.version ?? Deno?.version.deno ?? process.versions.node;
  const failures = await runSuite(client, JSON.parse(process.argv.at(-1)));
  console.log(JSON.stringify({ version, failures }));`;

/** The recipes as one program, and what shows that they work. */
const RECIPES_SCRIPT = `
  import { renderToString } from 'react-dom/server';
  import { QueryClientProvider } from '@tanstack/react-query';
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
    order: renderToString(<QueryClientProvider client={queries}><Order /></QueryClientProvider>),
  }));`;

const addresses = startServers();

beforeAll(async () => {
  for (const { folder, command, ...runtime } of RUNTIMES)
    if (!existsSync(command)) installInto(folder, `${runtime.package}@${runtime.version}`);

  rmSync(join(FOLDER, 'node_modules'), { recursive: true, force: true });
  const [{ filename }] = JSON.parse(
    runNpm('pack', '--json', '--workspace', 'client', '--pack-destination', FOLDER),
  );
  installInto(FOLDER, join(FOLDER, filename), ...LIBRARIES);
  writeFileSync(SUITE, await bundle(SUITE_SCRIPT, { external: ['animal-store-client'] }));
  writeFileSync(RECIPES, await bundle(RECIPES_SCRIPT, { packages: 'external' }));
});

/** What the program prints, as JSON. The program gets the addresses as its last argument. */
async function run(command: string, ...args: string[]): Promise<unknown> {
  const stdio = ['ignore', 'pipe', 'inherit'] as const;
  const child = spawn(command, [...args, JSON.stringify(await addresses())], { stdio: [...stdio] });
  let output = '';
  child.stdout?.on('data', (chunk) => (output += chunk));
  expect(await new Promise((resolve) => child.on('close', resolve))).toBe(0);
  return JSON.parse(output);
}

test.each(RUNTIMES)('the suite passes in $name', async ({ version, command, args }) => {
  expect(await run(command, ...args)).toEqual({ version, failures: [] });
});

test('the recipes of README.md show every digit in Express, React and TanStack Query', async () => {
  expect(await run(process.execPath, RECIPES)).toEqual({
    type: expect.stringContaining('application/json'),
    text: '[{"id":1,"name":"Rex","categoryId":9007199254740993}]',
    row: '<li>1 Rex</li>',
    order: 'pending',
  });
});
