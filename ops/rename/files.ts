/** Reads and renames the files that git tracks. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { PROJECT_ROOT } from '../command/project-root.ts';

/** Deletes new files and folders, too. */
export const UNDO = 'git reset --hard && git clean -fd';

/** The text files that git tracks, by path, without those that `npm run openapi` copies. */
export function readTracked(): Map<string, string> {
  const options = ['-I', '--null', '--files-with-matches'];
  const paths = git('grep', ...options, '', ':!public/docs/swagger-ui*')
    .split('\0')
    .filter(Boolean);
  return new Map(paths.map((path) => [path, readFileSync(join(PROJECT_ROOT, path), 'utf8')]));
}

/** @throws Error if there are changes or files that are not committed: undoing this would delete them, too. */
export function rejectUncommitted(): void {
  if (git('status', '--porcelain'))
    throw new Error('there are uncommitted changes. Commit them first, so that you can undo this');
}

/** Renames the contents and the paths of files. */
export function renameFiles(files: Map<string, string>, rename: (text: string) => string): void {
  for (const [path, text] of files) {
    const newPath = rename(path);
    const newText = rename(text);
    if (newPath === path && newText === text) continue;
    // Unlike a move, this also removes the folders that become empty.
    if (newPath !== path) git('rm', '--quiet', path);
    mkdirSync(join(PROJECT_ROOT, dirname(newPath)), { recursive: true });
    writeFileSync(join(PROJECT_ROOT, newPath), newText);
  }
  git('add', '--all');
}

/** @throws Error if the project is not a git repository. */
function git(...args: string[]): string {
  try {
    return execFileSync('git', args, { cwd: PROJECT_ROOT, encoding: 'utf8', stdio: 'pipe' });
  } catch {
    throw new Error('git is required. In a copy without history: git init, git add ., git commit');
  }
}
