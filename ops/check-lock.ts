/**
 * `npm run lock:check`: checks that package-lock.json has the packages of every platform, and that all files have the
 * same project version. npm omits optional packages that its registry does not offer when the file is written. npm 10
 * then installs them on no machine, and `npm ci` of npm 11 rejects the file.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import clientJson from '../client/package.json' with { type: 'json' };
import packageJson from '../package.json' with { type: 'json' };
import { PROJECT_ROOT } from './wrangler.ts';

/** The fields of an entry in package-lock.json that the check reads. */
export type LockedPackage = { version?: string; optionalDependencies?: Record<string, string> };

/** The optional dependencies without an entry for their version, as `name@version, of <path of the package>`. */
export function missingOptional(packages: Record<string, LockedPackage>): string[] {
  return Object.entries(packages).flatMap(([path, { optionalDependencies = {} }]) =>
    Object.entries(optionalDependencies)
      .filter(([name, range]) => {
        const found = resolve(packages, path, name);
        const exact = /^\d+\.\d+\.\d+[\w.+-]*$/.test(range);
        return found === undefined || (exact && found.version !== range);
      })
      .map(([name, range]) => `${name}@${range}, of ${path}`),
  );
}

/** Searches as Node.js does: in the package's own node_modules, then in those of the folders above it. */
function resolve(
  packages: Record<string, LockedPackage>,
  from: string,
  name: string,
): LockedPackage | undefined {
  const folders = from === '' ? [] : from.split('/');
  for (let depth = folders.length; depth >= 0; depth -= 1) {
    const path = [...folders.slice(0, depth), 'node_modules', name].join('/');
    if (packages[path]) return packages[path];
  }
  return undefined;
}

/** The packages of package-lock.json, by their paths. */
export function lockedPackages(): Record<string, LockedPackage> {
  return JSON.parse(readFileSync(join(PROJECT_ROOT, 'package-lock.json'), 'utf8')).packages;
}

if (import.meta.main) {
  const packages = lockedPackages();
  const versions = [packageJson, clientJson, packages[''], packages.client].map(
    (each) => each?.version,
  );
  if (new Set(versions).size > 1) {
    console.error(
      `package.json, client/package.json and package-lock.json have different versions: npm version ${packageJson.version} --workspaces --include-workspace-root --no-git-tag-version --allow-same-version`,
    );
    process.exitCode = 1;
  }
  for (const missing of missingOptional(packages)) {
    console.error(
      `package-lock.json lacks ${missing}: add its entry (version, os, cpu, libc if it has one, dev, optional)`,
    );
    process.exitCode = 1;
  }
}
