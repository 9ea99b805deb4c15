/**
 * `npm run lock:check`: checks that package-lock.json has a hash of each package, which npm verifies when it installs it,
 * and that all files have the same project version.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createProgram, run } from './command-line.ts';
import { PROJECT_ROOT } from './wrangler.ts';

/** Packages of other platforms that the registry did not offer when the file was written. Their bytes are not verified. */
const WITHOUT_HASH = `
  @biomejs/cli-android-arm64 @biomejs/cli-android-x64 @biomejs/cli-darwin-arm64 @biomejs/cli-darwin-x64
  @biomejs/cli-linux-arm64-musl @biomejs/cli-linux-x64-musl @biomejs/cli-win32-arm64 @biomejs/cli-win32-x64
  @cloudflare/workerd-darwin-64 @cloudflare/workerd-darwin-arm64 @cloudflare/workerd-windows-64`;

/** The fields of an entry in package-lock.json that the check reads. */
export type LockedPackage = { version?: string; integrity?: string; link?: boolean };

/** The paths of the installed packages whose entry has no hash, except those above. */
export function withoutHash(packages: Record<string, LockedPackage>): string[] {
  return Object.entries(packages)
    .filter(([path, { integrity, link }]) => path.includes('node_modules/') && !integrity && !link)
    .map(([path]) => path)
    .filter((path) => !WITHOUT_HASH.split(/\s+/).includes(path.replace('node_modules/', '')));
}

const program = createProgram('npm run lock:check --', 'Checks package-lock.json.').action(() => {
  const read = (name: string) => JSON.parse(readFileSync(join(PROJECT_ROOT, name), 'utf8'));
  const packages: Record<string, LockedPackage> = read('package-lock.json').packages;
  const paths = withoutHash(packages);
  if (paths.length > 0)
    throw new Error(`package-lock.json has no integrity hash of ${paths.join(', ')}`);
  const { version } = read('package.json');
  const others = [read('client/package.json'), packages[''], packages.client];
  if (others.some((other) => other?.version !== version))
    throw new Error(
      `package.json, client/package.json and package-lock.json have different versions. Run: npm version ${version} --workspaces --include-workspace-root --no-git-tag-version --allow-same-version`,
    );
  console.log('package-lock.json: every package has a hash, and every file the same version');
});

if (import.meta.main) await run(program);
