/**
 * What npm installs: only what package-lock.json names by version and hash, and package.json asks
 * for.
 */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import axe from '../../node_modules/axe-core/package.json' with { type: 'json' };
import wrangler from '../../node_modules/wrangler/package.json' with { type: 'json' };
import { PROJECT_ROOT } from '../../ops/command/project-root.ts';
import storePackage from '../../package.json' with { type: 'json' };
import packageLock from '../../package-lock.json' with { type: 'json' };
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

test('npm has installed what the lock file and package.json name', () => {
  expect(check('.', '--installed')).toEqual([0, '']);
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

const CI = 'ci --loglevel=error\n';
const BOTH = `${CI}rebuild --loglevel=error\n`;

test.each<[string, number, string, number, string, string?]>([
  ['installs nothing twice', 2, '', 0, ''],
  ['installs what has changed', 1, '', 0, BOTH],
  ['installs what is missing', 0, '', 0, BOTH],
  ['replaces an old Node.js', 2, '', 0, BOTH, '--no-strip-types'],
  ['has the exit code of npm ci', 1, 'exit 3', 3, CI],
  ['has the exit code of npm rebuild', 1, '[ $1 = ci ] || exit 3', 3, BOTH],
  ['fails when npm is killed', 1, 'kill $$', 1, CI],
  ['waits for npm after Ctrl-C', 1, 'kill -INT $PPID; exit 3', 3, CI],
])('npm start %s', async (_, installed, script, code, commands, option = '--no-warnings') => {
  const cwd = await temporaryFolder();
  mkdirSync(join(cwd, 'node_modules'));
  const times = { 'package-lock.json': 2, 'node_modules/.package-lock.json': installed };
  for (const [name, time] of Object.entries(times).filter(([, time]) => time > 0)) {
    writeFileSync(join(cwd, name), '');
    utimesSync(join(cwd, name), time, time);
  }
  // A shell takes the place of Node.js.
  writeFileSync(join(cwd, 'npm.sh'), `echo $@ >&2; ${script}`);
  const env = { ...process.env, npm_node_execpath: 'sh', npm_execpath: 'npm.sh' };
  const args = [option, join(PROJECT_ROOT, 'ops/install.mjs')];
  const { status, stderr } = spawnSync(process.execPath, args, { cwd, env });
  expect([status, `${stderr}`]).toEqual([code, commands]);
});
