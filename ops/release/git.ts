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
  const status = await git('status', '--porcelain', '--', ...paths);
  const files = status.split('\n').filter((line) => line !== '');
  if (files.length === 0) return undefined;
  const names = files.slice(0, SHOWN).map((line) => line.slice(3));
  const more = files.length > SHOWN ? `, and ${files.length - SHOWN} more` : '';
  return `not everything is committed (${names.join(', ')}${more}): commit it, or put it aside`;
}

/** How many commits lead from one commit to another; `undefined` when git cannot tell. */
export async function commitsBetween(from: string, to: string): Promise<number | undefined> {
  const count = await git('rev-list', '--count', `${from}..${to}`).catch(() => undefined);
  return count === undefined ? undefined : Number(count);
}

async function git(...args: string[]): Promise<string> {
  try {
    const { stdout } = await promisify(execFile)('git', args, { cwd: PROJECT_ROOT });
    return stdout;
  } catch (error) {
    const { code, stderr } = error as { code?: unknown; stderr?: string };
    if (code === 'ENOENT') throw new Error('a release needs git, and there is none');
    throw new Error(`git: ${stderr?.trim().split('\n')[0] ?? error}`);
  }
}
