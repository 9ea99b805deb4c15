/** The packages that are installed are those that were reviewed. */
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { expect, test } from 'vitest';
import wranglerPackage from '../../node_modules/wrangler/package.json' with { type: 'json' };
import fallbackPackage from '../../ops/node/package.json' with { type: 'json' };
import storePackage from '../../package.json' with { type: 'json' };
import packageLock from '../../package-lock.json' with { type: 'json' };

test('miniflare has the version that wrangler needs', () => {
  expect(storePackage.devDependencies.miniflare).toBe(wranglerPackage.dependencies.miniflare);
});

type Locked = Partial<Record<'name' | 'version' | 'resolved' | 'integrity', string>> & {
  link?: boolean;
};
const locked = Object.entries<Locked>(packageLock.packages);

test('npm takes every package by its name and version, and verifies its hash', () => {
  // It would replace package-lock.json.
  expect(existsSync('npm-shrinkwrap.json')).toBe(false);
  const downloaded = locked.filter(
    ([path, entry]) => path.includes('node_modules/') && !entry.link,
  );
  expect(downloaded.length).toBeGreaterThan(100);
  // A foreign address, or another name, would be installed with a hash of its own.
  for (const [path, entry] of downloaded) {
    expect(entry, path).not.toHaveProperty('name');
    expect(entry.version, path).toMatch(/^\d+\.\d+\.\d+(-[\w.]+)?$/);
    expect(entry.integrity, path).toMatch(/^sha512-/);
  }
});

test('only the links to folders of this project have an address', () => {
  const addresses = locked.filter(([, entry]) => 'resolved' in entry);
  const links = addresses.map(([, entry]) => entry.link && entry.resolved);
  expect(['client', 'ops/node']).toEqual(expect.arrayContaining(links));
});

test("git's line ends are LF, also on Windows", () => {
  const attributes = execFileSync('git', ['check-attr', 'eol', '--', 'src/app.ts', 'README.md']);
  expect(`${attributes}`.match(/: \w+$/gm)).toEqual([': lf', ': lf']);
});

test('every version in package.json is exact', () => {
  const { dependencies, devDependencies } = storePackage;
  const versions = Object.values({
    ...dependencies,
    ...devDependencies,
    ...fallbackPackage.optionalDependencies,
  });
  expect(versions.filter((each) => !/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(each))).toEqual([]);
});
