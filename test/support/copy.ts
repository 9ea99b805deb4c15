/** A copy of the project in a repository of its own. Needs git. */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { copyFiles, temporaryFolder } from './project.ts';

export async function copyRepository(from?: string) {
  const folder = await temporaryFolder();
  const path = (name: string) => join(folder, name);
  const npm = (line: string, stdio: 'inherit' | 'pipe' = 'inherit') => {
    const command = [process.env.npm_execpath ?? '', ...line.split(' ')];
    return spawnSync(process.execPath, command, { cwd: folder, stdio, encoding: 'utf8' });
  };
  const edit = (name: string, change: (text: string) => string) =>
    writeFileSync(path(name), change(readFileSync(path(name), 'utf8')));
  copyFiles(folder, from);
  return { folder, path, git: createRepository(folder), npm, edit };
}

/** Makes the files of a folder the first commit of a repository. Returns its git. */
export function createRepository(folder: string) {
  const git = (...args: string[]) => execFileSync('git', args, { cwd: folder, encoding: 'utf8' });
  git('init', '--quiet', '--template=');
  mkdirSync(join(folder, '.git/info'));
  // Ignores a file of this name, too, which a release must refuse. .gitignore names the folder.
  writeFileSync(join(folder, '.git/info/exclude'), 'node_modules');
  git('add', '--all');
  git('commit', '--quiet', '--message', 'Begin');
  return git;
}
