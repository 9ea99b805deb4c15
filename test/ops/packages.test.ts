/** What npm installs: only what package-lock.json names by version and hash. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import packageLock from '../../package-lock.json' with { type: 'json' };

type Entry = Record<string, unknown>;

/** The folders of this project that npm links. */
const FOLDERS: unknown[] = ['client', 'ops/node'];

/** npm downloads nothing for them. With a false `link`, it would. */
const isLink = ({ link, resolved }: Entry) => link === true && FOLDERS.includes(resolved);

/** Whether npm can only install the package that the path names, from the registry, in one version with one content. */
const isExact = ({ name, resolved, version, integrity }: Entry) =>
  name === undefined &&
  resolved === undefined &&
  /^\d+\.\d+\.\d+(-[\w.]+)?$/.test(String(version)) &&
  /^sha512-/.test(String(integrity));

const forgedIn = (packages: Record<string, Entry>) =>
  Object.entries(packages)
    .filter(([path]) => path.includes('node_modules/'))
    .filter(([, entry]) => !isLink(entry) && !isExact(entry))
    .map(([path]) => path);

test('npm takes every package by its name and version, and verifies its hash', () => {
  expect(Object.keys(packageLock.packages).length).toBeGreaterThan(100);
  expect(forgedIn(packageLock.packages)).toEqual([]);
});

const { version, integrity } = packageLock.packages['node_modules/hono'];

test.each<Entry>([
  { version, name: 'foreign', link: false },
  { version, name: 'foreign', link: null },
  { version, name: 'foreign', link: 0 },
  { version, name: 'foreign', link: '' },
  { version, integrity, name: 'foreign' },
  { version, integrity, resolved: 'https://foreign.example/hono.tgz' },
  { version },
  { link: true, resolved: '../foreign' },
])('the entry %j would install another package', (entry) => {
  expect(forgedIn({ 'node_modules/hono': entry })).toEqual(['node_modules/hono']);
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
