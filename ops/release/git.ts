/** What is released is a commit. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { PROJECT_ROOT } from '../wrangler.ts';

const SHOWN = 3;

/** The full name of the commit that is checked out. */
export async function headCommit(): Promise<string> {
  return (await git('rev-parse', 'HEAD')).trim();
}

/** What in the work tree, or of these paths, is not committed, in words; `undefined` when all is. */
export async function uncommitted(...paths: string[]): Promise<string | undefined> {
  const status = await git('status', '--porcelain', '--untracked-files=all', '--', ...paths);
  const files = status.split('\n').filter((line) => line !== '');
  if (files.length === 0) return undefined;
  const names = files.slice(0, SHOWN).map((line) => line.slice(3));
  const more = files.length > SHOWN ? `, and ${files.length - SHOWN} more` : '';
  return `not everything is committed (${names.join(', ')}${more}): commit it, or put it aside`;
}

/** The files below these paths that git knows of, from the project's root. */
export async function committedFiles(...paths: string[]): Promise<string[]> {
  const files = await git('ls-files', '-z', '--', ...paths);
  return files.split('\0').filter((file) => file !== '');
}

/** How many commits each of two has that the other has not; `undefined` when git cannot tell. */
export async function commitsApart(
  one: string,
  other: string,
): Promise<{ one: number; other: number } | undefined> {
  const range = `${one}...${other}`;
  const counts = await git('rev-list', '--left-right', '--count', range).catch(() => undefined);
  const [left, right] = counts?.trim().split(/\s+/).map(Number) ?? [];
  return left === undefined || right === undefined ? undefined : { one: left, other: right };
}

async function git(...args: string[]): Promise<string> {
  try {
    const { stdout } = await promisify(execFile)('git', args, { cwd: PROJECT_ROOT });
    return stdout;
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    if ('code' in error && error.code === 'ENOENT') {
      throw new Error('a release needs git, and there is none');
    }
    const [problem] = ('stderr' in error ? String(error.stderr) : '').trim().split('\n');
    throw new Error(`git: ${problem || error.message}`);
  }
}
