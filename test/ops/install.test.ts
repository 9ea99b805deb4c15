/** The calls of npm by `npm run setup`, with a fake npm that only records them. */
import { spawnSync } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { PROJECT_ROOT } from '../../ops/wrangler.ts';

const SCRIPT = join(PROJECT_ROOT, 'ops/install.mjs');
const NPM = `
  import { appendFileSync, mkdirSync } from 'node:fs';
  if (process.argv[2] === 'ping') {
    console.error('npm error code ' + process.env.PING_ERROR);
    process.exit(process.env.PING_ERROR ? 1 : 0);
  }
  mkdirSync('node_modules', { recursive: true });
  const { CLOUDFLARE_API_TOKEN, SMOKE_API_KEY } = process.env;
  const call = { args: process.argv.slice(2), CLOUDFLARE_API_TOKEN, SMOKE_API_KEY };
  appendFileSync('calls', JSON.stringify(call) + '\\n');
  console.log('added 1 package');
  process.exit(Number(process.env.NPM_EXIT_CODE ?? 0));`;

type Call = { args: string[]; CLOUDFLARE_API_TOKEN?: string; SMOKE_API_KEY?: string };

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'animal-store-'));
  await mkdir(join(folder, 'client'));
  for (const file of ['package.json', 'package-lock.json', 'client/package.json'])
    await cp(join(PROJECT_ROOT, file), join(folder, file));
  await writeFile(join(folder, 'npm.mjs'), NPM);
});
afterEach(() => rm(folder, { recursive: true }));

function setUp(args: string[] = [], env: Record<string, string> = {}) {
  const npm_execpath = join(folder, 'npm.mjs');
  return spawnSync(process.execPath, [SCRIPT, ...args], {
    cwd: folder,
    env: { ...process.env, npm_execpath, ...env },
    encoding: 'utf8',
  });
}

async function calls(): Promise<Call[]> {
  const lines = await readFile(join(folder, 'calls'), 'utf8').catch(() => '');
  return lines
    .split('\n')
    .filter((line) => line)
    .map((line): Call => JSON.parse(line));
}

test('installs by the lock file without scripts, then runs those of the three allowed packages', async () => {
  expect(setUp().status).toBe(0);
  const [install, rebuild, ...others] = (await calls()).map(({ args }) => args);
  expect(install).toEqual(expect.arrayContaining(['ci', '--ignore-scripts', '--include=dev']));
  const named = rebuild?.filter((arg) => !arg.startsWith('-'));
  expect(named).toEqual(['rebuild', 'node', 'esbuild', 'workerd']);
  expect(others).toEqual([]);
});

test('installs only the difference if packages are installed already', async () => {
  await mkdir(join(folder, 'node_modules'));
  expect(setUp().status).toBe(0);
  const [install] = (await calls()).map(({ args }) => args);
  expect(install).toEqual(expect.arrayContaining(['install', '--ignore-scripts', '--no-save']));
});

test('announces the installation in one line on standard error, and writes nothing to standard output', () => {
  const { stdout, stderr } = setUp();
  expect(stderr).toMatch(/^Installing the packages of package-lock\.json .*\n/);
  expect(stdout).toBe('');
});

test('does nothing and prints nothing when everything is installed', async () => {
  setUp();
  const before = await calls();
  expect(setUp()).toMatchObject({ status: 0, stdout: '', stderr: '' });
  expect(await calls()).toEqual(before);
});

test('installs again when the lock file has changed', async () => {
  setUp();
  await writeFile(join(folder, 'package-lock.json'), '{}');
  setUp();
  expect((await calls()).map(({ args }) => args[0])).toEqual([
    'ci',
    'rebuild',
    'install',
    'rebuild',
  ]);
});

test('fails with the exit code of npm, and installs again the next time', async () => {
  expect(setUp([], { NPM_EXIT_CODE: '7' }).status).toBe(7);
  expect(setUp().status).toBe(0);
  expect((await calls()).map(({ args }) => args[0])).toEqual(['ci', 'install', 'rebuild']);
});

test('reports a missing network connection, and fails if packages are not in the cache', () => {
  const { status, stderr } = setUp([], { PING_ERROR: 'ENOTFOUND', NPM_EXIT_CODE: '1' });
  expect(status).toBe(1);
  expect(stderr).toContain('The npm registry does not respond');
  expect(stderr).toMatch(/^error: packages are missing\. Connect to the network .*$/m);
});

test.each([
  ['ENOTFOUND', '--offline'],
  ['ETIMEDOUT', '--offline'],
  // A mirror that does not implement ping.
  ['E404', '--prefer-offline'],
])('when the registry answers a ping with %s, npm is run with %s', async (error, option) => {
  expect(setUp([], { PING_ERROR: error }).status).toBe(0);
  for (const { args } of await calls()) expect(args).toContain(option);
});

test('with --check fails if packages are missing, and installs nothing', async () => {
  expect(setUp(['--check'])).toMatchObject({
    status: 1,
    stderr: 'error: the packages of package-lock.json are not installed. Run: npm run setup\n',
  });
  expect(await calls()).toEqual([]);
  setUp();
  const before = await calls();
  expect(setUp(['--check'])).toMatchObject({ status: 0, stderr: '' });
  expect(await calls()).toEqual(before);
});

test('removes secrets from the environment of npm', async () => {
  setUp([], { CLOUDFLARE_API_TOKEN: 'token', SMOKE_API_KEY: 'key' });
  const seen = await calls();
  expect(seen.length).toBe(2);
  for (const { CLOUDFLARE_API_TOKEN, SMOKE_API_KEY } of seen)
    expect([CLOUDFLARE_API_TOKEN, SMOKE_API_KEY]).toEqual([undefined, undefined]);
});
