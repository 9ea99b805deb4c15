/** A repository of its own. Needs git. */
import { execFileSync } from 'node:child_process';

/** Makes the files of a folder the first commit of a repository. Returns its git. */
export function createRepository(folder: string) {
  const git = (...args: string[]) => execFileSync('git', args, { cwd: folder, encoding: 'utf8' });
  git('init', '--quiet', '--template=');
  git('add', '--all');
  git('commit', '--quiet', '--message', 'Begin');
  return git;
}
