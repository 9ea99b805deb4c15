/** A copy of the project in a repository of its own. Needs git. */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { copyFiles, temporaryFolder } from './project.ts';

export async function copyRepository(from?: string) {
  const folder = await temporaryFolder();
  const path = (name: string) => join(folder, name);
  /** Runs npm in the copy, which must succeed. Does not block this process for minutes: vitest would take it for dead. */
  const npm = async (line: string) => {
    const command = [process.env.npm_execpath ?? '', ...line.split(' ')];
    const child = spawn(process.execPath, command, { cwd: folder, stdio: 'inherit' });
    const [code] = await once(child, 'close');
    expect(code, `npm ${line}`).toBe(0);
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
  git('add', '--all');
  git('commit', '--quiet', '--message', 'Begin');
  return git;
}
