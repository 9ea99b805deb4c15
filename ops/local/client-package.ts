/** The client as a package that the store serves: http://localhost:8787/client-1.0.0.tgz. */
import { execFileSync, execSync } from 'node:child_process';
import { cpSync, globSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { PROJECT_ROOT } from '../command/project-root.ts';

const CLIENT = join(PROJECT_ROOT, 'client');
const PUBLIC = join(PROJECT_ROOT, 'public');

/**
 * What is packed, and what compiles it. The time of a folder changes when a file in it is deleted.
 */
const SOURCES = [
  ...['CHANGELOG.md', 'README.md', 'package.json', 'tsconfig.json', 'src', 'src/*.ts'],
  ...['../tsconfig.json', '../node_modules/.package-lock.json'],
];

/** Writes public/client-<version>.tgz, unless it is newer than the client. */
export function packClient(): void {
  const { name, version } = JSON.parse(readFileSync(join(CLIENT, 'package.json'), 'utf8'));
  const path = join(PUBLIC, `client-${version}.tgz`);
  const { mtimeMs: packedMs = 0 } = statSync(path, { throwIfNoEntry: false }) ?? {};
  const sources = globSync(SOURCES, { cwd: CLIENT });
  if (sources.every((source) => statSync(join(CLIENT, source)).mtimeMs < packedMs)) return;
  // A folder of its own: another build may run at the same time, and no file of an earlier one is
  // left.
  const folder = join(PROJECT_ROOT, `dist/client-${process.pid}`);
  for (const file of ['CHANGELOG.md', 'README.md', 'package.json'])
    cpSync(join(CLIENT, file), join(folder, file));
  const compiler = join(PROJECT_ROOT, 'node_modules/typescript/bin/tsc');
  const options = ['--project', CLIENT, '--outDir', join(folder, 'dist')];
  execFileSync(process.execPath, [compiler, ...options], { stdio: 'inherit' });
  // In a package, npm sets the time of each file to the same one.
  execSync('npm pack --loglevel=error', { cwd: folder });
  renameSync(join(folder, `${name}-${version}.tgz`), path);
  rmSync(folder, { recursive: true });
}
