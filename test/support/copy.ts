/** A clone of a commit, with the packages of this project. Needs git. */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PROJECT_ROOT } from '../../ops/command/project-root.ts';
import { temporaryFolder } from './project.ts';

export async function cloneCommit(from: string) {
  const folder = await temporaryFolder();
  const path = (name: string) => join(folder, name);
  const git = (...args: string[]) => execFileSync('git', args, { cwd: folder, encoding: 'utf8' });
  const npm = (line: string, stdio: 'inherit' | 'pipe' = 'inherit') => {
    const command = [process.env.npm_execpath ?? '', ...line.split(' ')];
    return spawnSync(process.execPath, command, { cwd: folder, stdio, encoding: 'utf8' });
  };
  const edit = (name: string, change: (text: string) => string) =>
    writeFileSync(path(name), change(readFileSync(path(name), 'utf8')));
  git('clone', '--quiet', from, '.');
  writeFileSync(path('.git/info/exclude'), 'node_modules');
  linkPackages(folder);
  return { folder, path, git, npm, edit };
}

/** Links the packages of the project, and those of the client, if there is one. */
export function linkPackages(folder: string): void {
  for (const packages of ['node_modules', 'client/node_modules']) {
    const installed = join(PROJECT_ROOT, packages);
    if (existsSync(installed)) symlinkSync(installed, join(folder, packages), 'junction');
  }
}
