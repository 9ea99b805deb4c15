import { expect, test } from 'vitest';
import lock from '../package-lock.json' with { type: 'json' };

type Package = { version?: string; integrity?: string; link?: boolean };
const packages: Record<string, Package> = lock.packages;

/** Packages of other platforms that the registry did not offer when the file was written. Their bytes are not verified. */
const WITHOUT_HASH = [
  'cli-android-arm64 cli-android-x64 cli-darwin-arm64 cli-darwin-x64 cli-linux-arm64-musl',
  'cli-linux-x64-musl cli-win32-arm64 cli-win32-x64 workerd-darwin-64 workerd-darwin-arm64',
  'workerd-windows-64',
];

test('every package has a hash', () => {
  const without = Object.entries(packages)
    .filter(([path, { integrity, link }]) => path.includes('node_modules/') && !integrity && !link)
    .map(([path]) => path.replace(/^node_modules\/@(biomejs|cloudflare)\//, ''));
  expect(without.toSorted()).toEqual(WITHOUT_HASH.join(' ').split(' ').toSorted());
});
