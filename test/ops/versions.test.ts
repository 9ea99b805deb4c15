/** Versions are exact, and line ends are the same on every system. */
import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import wranglerPackage from '../../node_modules/wrangler/package.json' with { type: 'json' };
import fallbackPackage from '../../ops/node/package.json' with { type: 'json' };
import storePackage from '../../package.json' with { type: 'json' };

test('miniflare has the version that wrangler needs', () => {
  expect(storePackage.devDependencies.miniflare).toBe(wranglerPackage.dependencies.miniflare);
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
