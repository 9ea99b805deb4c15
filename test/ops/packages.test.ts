/**
 * What npm installs: only what package-lock.json names by version and hash, and package.json asks
 * for.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { PROJECT_ROOT } from '../../ops/command/project-root.ts';
import packageLock from '../../package-lock.json' with { type: 'json' };
import { temporaryFolder } from './project.ts';

type Entry = Record<string, unknown>;

/** The exit code and the messages of the check in a folder. */
function check(cwd: string, ...args: string[]) {
  const script = join(PROJECT_ROOT, 'ops/check-lock.mjs');
  const { status, stderr } = spawnSync(process.execPath, [script, ...args], { cwd });
  return [status, `${stderr}`];
}

/** A project with this lock file, and packages that `hono` and `axe-core` name. */
async function projectWith(packages: Record<string, Entry>) {
  const folder = await temporaryFolder();
  writeFileSync(
    join(folder, 'package-lock.json'),
    JSON.stringify({ lockfileVersion: 3, packages: { ...packageLock.packages, ...packages } }),
  );
  for (const path of [
    'package.json',
    'ops/node/package.json',
    'node_modules/axe-core/package.json',
  ])
    cpSync(path, join(folder, path));
  return folder;
}

const HONO = 'node_modules/hono';
const { version, integrity } = packageLock.packages[HONO];
const exact = { version, integrity };
const other = `${HONO}/../other`;

test('npm takes every package by its name and version, and CI looks before anything of it runs', () => {
  expect(Object.keys(packageLock.packages).length).toBeGreaterThan(100);
  for (const args of [[], ['--installed']]) expect(check('.', ...args)).toEqual([0, '']);
  expect(readFileSync('.ci/run', 'utf8')).toContain(
    '\n\nnode ops/check-lock.mjs\nnpm ci\nnode ops/check-lock.mjs --installed\n',
  );
});

test.each<[string, Entry]>([
  ...[false, null, 0, ''].map((link): [string, Entry] => [HONO, { version, name: 'a', link }]),
  [HONO, { ...exact, link: false }],
  [HONO, { ...exact, name: 'foreign' }],
  [HONO, { ...exact, resolved: 'https://foreign.example/hono.tgz' }],
  [HONO, { ...exact, hasShrinkwrap: true }],
  [HONO, { version }],
  [HONO, { version: '^1.0.0', integrity }],
  [HONO, { link: true, resolved: '../foreign' }],
  [other, exact],
  ['other', exact],
  ['node_modules/other', { ...exact, bin: { tsc: 'tsc' } }],
])('CI installs nothing with the entry %s %j', async (path, entry) => {
  const folder = await projectWith({ [path]: entry });
  expect(check(folder)).toEqual([1, expect.stringContaining(`package-lock.json: ${path}: `)]);
});

const axe = packageLock.packages['node_modules/axe-core'];

test.each<[string, Entry, Entry]>([
  ['differs in bin', { ...axe, bin: { axe: 'axe.js' } }, {}],
  ['differs in dependencies', { ...axe, dependencies: { other: '1.0.0' } }, {}],
  ['differs in optionalDependencies', { ...axe, optionalDependencies: { other: '1.0.0' } }, {}],
  ['differs in peerDependencies', { ...axe, peerDependencies: { other: '1.0.0' } }, {}],
  ['is foreign', axe, { name: 'foreign' }],
  ['differs in version', axe, { version: '1.0.0' }],
])('CI runs nothing of a package that is not as its entry: %s', async (problem, entry, content) => {
  const path = 'node_modules/axe-core';
  const folder = await projectWith({ [path]: entry });
  const file = join(folder, path, 'package.json');
  writeFileSync(file, JSON.stringify({ ...JSON.parse(readFileSync(file, 'utf8')), ...content }));
  expect(check(folder, '--installed')).toEqual([1, `package-lock.json: ${path}: ${problem}\n`]);
});

test('CI runs nothing of a package that no other one needs', async () => {
  const path = 'node_modules/other';
  const folder = await projectWith({ [path]: exact });
  mkdirSync(join(folder, path));
  writeFileSync(join(folder, path, 'package.json'), `{"name":"other","version":"${version}"}`);
  const message = `package-lock.json: ${path}: no package needs it\n`;
  expect(check(folder, '--installed')).toEqual([1, message]);
});

test('git has no other file that npm would install from', () => {
  const files = [
    '*npm-shrinkwrap.json',
    '*package-lock.json',
    '*yarn.lock',
    '*pnpm-lock.yaml',
    '*bun.lock*',
  ];
  const tracked = execFileSync('git', ['ls-files', ...files], { encoding: 'utf8' });
  expect(tracked).toBe('package-lock.json\n');
});

test('no package runs a script when it is installed', () => {
  expect(readFileSync('.npmrc', 'utf8')).toMatch(/^ignore-scripts=true$/m);
});
