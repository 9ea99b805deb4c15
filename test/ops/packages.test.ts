/**
 * What npm installs: only what package-lock.json names by version and hash, and package.json asks
 * for.
 */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import axe from '../../node_modules/axe-core/package.json' with { type: 'json' };
import wrangler from '../../node_modules/wrangler/package.json' with { type: 'json' };
import { PROJECT_ROOT } from '../../ops/command/project-root.ts';
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
const OTHER = 'node_modules/other';
const { version, integrity } = packageLock.packages[HONO];
const exact = { version, integrity };

test('npm takes every package by its name and version', () => {
  expect(Object.keys(packageLock.packages).length).toBeGreaterThan(100);
  for (const args of [[], ['--installed']]) expect(check('.', ...args)).toEqual([0, '']);
});

test.each<Entry & { path?: string }>([
  { link: false },
  { name: 'foreign' },
  { resolved: 'https://foreign.example/hono.tgz' },
  { inBundle: true },
  { hasShrinkwrap: true },
  { integrity: undefined },
  { integrity: `sha512-x ${integrity}` },
  { integrity: `${integrity} sha512-x` },
  { version: '^1.0.0' },
  { version: '1.0.0 || 2.0.0' },
  { link: true, resolved: '../foreign' },
  { path: 'node_modules/hono/../other' },
  { path: 'node_modules/..' },
  { path: 'other/node_modules/hono' },
  { path: 'other' },
])('CI installs nothing with the entry %j', async ({ path = HONO, ...change }) => {
  const folder = await projectWith({ [path]: { ...exact, ...change } });
  expect(check(folder)).toEqual([1, `package-lock.json: ${path}: is not exact\n`]);
});

test('CI installs nothing if two packages have a command, or by another version of the file', async () => {
  const taken = { [OTHER]: { ...exact, bin: { tsc: 'tsc' } } };
  const problem = 'package-lock.json: node_modules/other: another package has the command tsc\n';
  expect(check(await projectWith(taken))).toEqual([1, problem]);
  const other = 'package-lock.json: must have the version 3\n';
  expect(check(await projectWith({}, { lockfileVersion: 2 }))).toEqual([1, other]);
  const folder = await projectWith({}, { dependencies: {} });
  writeFileSync(join(folder, 'npm-shrinkwrap.json'), '');
  const shrinkwrap = 'package-lock.json: npm would read npm-shrinkwrap.json instead\n';
  expect(check(folder)).toEqual([1, other + shrinkwrap]);
});

test.each<[string, Entry, string?]>([
  ...['bin', 'dependencies', 'optionalDependencies', 'peerDependencies', 'version'].map(
    (field): [string, Entry] => [`differs in ${field}`, { ...axe, [field]: { other: '1.0.0' } }],
  ),
  ['is foreign', { ...axe, name: 'foreign' }],
  ['no package needs it', { name: 'other', version }, OTHER],
])('CI runs nothing of a package that %s', async (problem, content, path = AXE) => {
  const folder = await projectWith({ [OTHER]: exact });
  mkdirSync(join(folder, path), { recursive: true });
  writeFileSync(join(folder, path, 'package.json'), JSON.stringify(content));
  expect(check(folder, '--installed')).toEqual([1, `package-lock.json: ${path}: ${problem}\n`]);
});

test('miniflare has the version that wrangler needs', () => {
  expect(storePackage.devDependencies.miniflare).toBe(wrangler.dependencies.miniflare);
});

test('no package runs a script when it is installed', () => {
  expect(readFileSync('.npmrc', 'utf8')).toMatch(/^ignore-scripts=true$/m);
});

test.each<[string, (number | undefined)[], (number | null)[], number?, boolean?]>([
  ['installs nothing twice', [1, 1], []],
  ['installs what has changed', [1, 2], [0, 0], 0],
  ['installs what is missing', [undefined, 1], [0, 0], 0],
  ['replaces an old Node.js', [1, 1], [0, 0], 0, false],
  ['has the exit code of npm ci', [1, 2], [3], 3],
  ['has the exit code of npm rebuild', [1, 2], [0, 3], 3],
  ['fails when npm is killed', [1, 2], [null], 1],
])('npm start %s', async (_, [installed, wanted], statuses, code, typescript = true) => {
  onTestFinished(() => {
    vi.unstubAllEnvs();
    vi.restoreAllMocks();
  });
  vi.stubEnv('npm_node_execpath', 'node');
  vi.stubEnv('npm_execpath', 'npm.js');
  vi.spyOn(process.features, 'typescript', 'get').mockReturnValue(typescript && 'strip');
  vi.spyOn(console, 'log').mockReturnValue();
  vi.spyOn(process, 'on').mockReturnThis();
  const times = { 'node_modules/.package-lock.json': installed, 'package-lock.json': wanted };
  const statSync = (file: keyof typeof times) => times[file] && { mtimeMs: times[file] };
  const spawnSync = vi.fn();
  for (const status of statuses) spawnSync.mockReturnValueOnce({ status });
  await importWith('install.mjs', { 'node:fs': { statSync }, 'node:child_process': { spawnSync } });
  const commands = ['ci', 'rebuild'].slice(0, statuses.length);
  expect(spawnSync.mock.calls.map(([node, args]) => [node, ...args])).toEqual(
    commands.map((command) => ['node', 'npm.js', command, '--loglevel=error']),
  );
  expect(process.exitCode).toBe(code);
  process.exitCode = undefined;
});
