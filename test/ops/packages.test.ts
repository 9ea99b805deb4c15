/**
 * What npm installs: only what package-lock.json names by version and hash, and package.json asks
 * for.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import axe from '../../node_modules/axe-core/package.json' with { type: 'json' };
import wrangler from '../../node_modules/wrangler/package.json' with { type: 'json' };
import { PROJECT_ROOT } from '../../ops/command/project-root.ts';
import fallback from '../../ops/node/package.json' with { type: 'json' };
import storePackage from '../../package.json' with { type: 'json' };
import packageLock from '../../package-lock.json' with { type: 'json' };
import { importWith } from './command.ts';
import { temporaryFolder } from './project.ts';

type Entry = Record<string, unknown>;

/** The exit code and the messages of the check in a folder. */
function check(cwd: string, ...args: string[]) {
  const script = join(PROJECT_ROOT, 'ops/check-lock.mjs');
  const { status, stderr } = spawnSync(process.execPath, [script, ...args], { cwd });
  return [status, `${stderr}`];
}

/** A project with these entries and members of the lock file. */
async function projectWith(packages: Record<string, Entry>, members = {}) {
  const folder = await temporaryFolder();
  const lock = { ...packageLock, packages: { ...packageLock.packages, ...packages }, ...members };
  writeFileSync(join(folder, 'package-lock.json'), JSON.stringify(lock));
  for (const path of ['package.json', 'ops/node/package.json']) cpSync(path, join(folder, path));
  return folder;
}

const HONO = 'node_modules/hono';
const AXE = 'node_modules/axe-core';
const { version, integrity } = packageLock.packages[HONO];
const exact = { version, integrity };

test('npm takes every package by its name and version', () => {
  expect(Object.keys(packageLock.packages).length).toBeGreaterThan(100);
  for (const args of [[], ['--installed']]) expect(check('.', ...args)).toEqual([0, '']);
});

test.each<[string, Entry]>([
  [HONO, { ...exact, link: false }],
  [HONO, { ...exact, name: 'foreign' }],
  [HONO, { ...exact, resolved: 'https://foreign.example/hono.tgz' }],
  [HONO, { ...exact, inBundle: true }],
  [HONO, { ...exact, hasShrinkwrap: true }],
  [HONO, { version }],
  [HONO, { ...exact, integrity: `sha512-x ${integrity}` }],
  [HONO, { ...exact, integrity: `${integrity} sha512-x` }],
  [HONO, { ...exact, version: '^1.0.0' }],
  [HONO, { ...exact, version: '1.0.0 || 2.0.0' }],
  [HONO, { link: true, resolved: '../foreign' }],
  [`${HONO}/../other`, exact],
  ['node_modules/..', exact],
  [`other/${HONO}`, exact],
  ['other', exact],
])('CI installs nothing with the entry %s %j', async (path, entry) => {
  const folder = await projectWith({ [path]: entry });
  expect(check(folder)).toEqual([1, `package-lock.json: ${path}: is not exact\n`]);
});

test('CI installs nothing if two packages have a command, or by another version of the file', async () => {
  const taken = { 'node_modules/other': { ...exact, bin: { tsc: 'tsc' } } };
  const problem = 'node_modules/other: another package has the command tsc';
  expect(check(await projectWith(taken))).toEqual([1, `package-lock.json: ${problem}\n`]);
  const other = [1, 'package-lock.json: must have the version 3\n'];
  expect(check(await projectWith({}, { lockfileVersion: 2 }))).toEqual(other);
  const folder = await projectWith({}, { dependencies: {} });
  expect(check(folder)).toEqual(other);
  writeFileSync(join(folder, 'npm-shrinkwrap.json'), '');
  const message = `${other[1]}package-lock.json: npm would read npm-shrinkwrap.json instead\n`;
  expect(check(folder)).toEqual([1, message]);
});

const locked = packageLock.packages[AXE];

test.each<[string, string, Entry, Entry]>([
  ...['bin', 'dependencies', 'optionalDependencies', 'peerDependencies'].map(
    (field): [string, string, Entry, Entry] => [
      `differs in ${field}`,
      AXE,
      { ...locked, [field]: { other: '1.0.0' } },
      axe,
    ],
  ),
  ['differs in version', AXE, locked, { ...axe, version: '1.0.0' }],
  ['is foreign', AXE, locked, { ...axe, name: 'foreign' }],
  ['no package needs it', 'node_modules/other', exact, { name: 'other', version }],
])('CI runs nothing of a package that %s', async (problem, path, entry, content) => {
  const folder = await projectWith({ [path]: entry });
  mkdirSync(join(folder, path), { recursive: true });
  writeFileSync(join(folder, path, 'package.json'), JSON.stringify(content));
  expect(check(folder, '--installed')).toEqual([1, `package-lock.json: ${path}: ${problem}\n`]);
});

test('miniflare has the version that wrangler needs, and every version is exact', () => {
  const { dependencies, devDependencies } = storePackage;
  expect(devDependencies.miniflare).toBe(wrangler.dependencies.miniflare);
  const others = fallback.optionalDependencies;
  for (const exactly of Object.values({ ...dependencies, ...devDependencies, ...others }))
    expect(exactly).toMatch(/^\d+\.\d+\.\d+(-[\w.]+)?$/);
});

test("git's line ends are LF, also on Windows", () => {
  const attributes = execFileSync('git', ['check-attr', 'eol', '--', 'src/app.ts', 'README.md']);
  expect(`${attributes}`.match(/: \w+$/gm)).toEqual([': lf', ': lf']);
});

test('git has no other file that npm would install from', () => {
  const names = ['npm-shrinkwrap.json', 'package-lock.json', 'yarn.lock', 'pnpm-lock.yaml'];
  const files = [...names, 'bun.lock*'].map((name) => `*${name}`);
  const tracked = execFileSync('git', ['ls-files', ...files], { encoding: 'utf8' });
  expect(tracked).toBe('package-lock.json\n');
});

test('no package runs a script when it is installed', () => {
  expect(readFileSync('.npmrc', 'utf8')).toMatch(/^ignore-scripts=true$/m);
});

const NPM = { npm_node_execpath: 'node', npm_execpath: 'npm.js' };

test.each<[string, (number | undefined)[], boolean, (number | null)[], number?]>([
  ['installs nothing twice', [1, 1], true, []],
  ['installs what has changed', [1, 2], true, [0, 0], 0],
  ['installs what is missing', [undefined, 1], true, [0, 0], 0],
  ['replaces an old Node.js', [1, 1], false, [0, 0], 0],
  ['has the exit code of npm ci', [1, 2], true, [3], 3],
  ['has the exit code of npm rebuild', [1, 2], true, [0, 3], 3],
  ['fails when npm is killed', [1, 2], true, [null], 1],
])('npm start %s', async (_, [installed, wanted], typescript, statuses, code) => {
  for (const [name, value] of Object.entries(NPM)) vi.stubEnv(name, value);
  vi.spyOn(process.features, 'typescript', 'get').mockReturnValue(typescript && 'strip');
  vi.spyOn(console, 'log').mockReturnValue();
  const on = vi.spyOn(process, 'on').mockReturnThis();
  const times = { 'node_modules/.package-lock.json': installed, 'package-lock.json': wanted };
  const statSync = (file: keyof typeof times) => times[file] && { mtimeMs: times[file] };
  const spawnSync = vi.fn();
  for (const status of statuses) spawnSync.mockReturnValueOnce({ status });
  await importWith('install.mjs', { 'node:fs': { statSync }, 'node:child_process': { spawnSync } });
  expect(spawnSync.mock.calls).toEqual(
    ['ci', 'rebuild']
      .slice(0, statuses.length)
      .map((command) => ['node', ['npm.js', command, '--loglevel=error'], { stdio: 'inherit' }]),
  );
  expect(on.mock.calls.map(([signal]) => signal)).toEqual(statuses.length ? ['SIGINT'] : []);
  expect(process.exitCode).toBe(code);
  process.exitCode = undefined;
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
});
