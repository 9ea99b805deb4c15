/** What is released: a commit, built from its own files and the installed packages. */
import { execFile } from 'node:child_process';
import { hash } from 'node:crypto';
import { rmSync } from 'node:fs';
import { mkdir, mkdtemp, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { PROJECT_ROOT, runWrangler } from '../wrangler.ts';

/** A commit in a folder laid out like the project. `digest`: SHA-256 of the script; assets are files of the commit. */
export type Build = { commit: string; digest: string; folder: string };

/** Builds a commit below dist/ in the project, whose packages it uses. */
export async function buildCommit(commit: string): Promise<Build> {
  // A folder of this process: another release in this checkout must not replace it.
  await mkdir(join(PROJECT_ROOT, 'dist'), { recursive: true });
  const folder = await mkdtemp(join(PROJECT_ROOT, 'dist', 'release-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  // Only committed files: what git ignores may be a secret. With the bytes of the commit, on Windows too.
  const settings = ['-c', 'core.autocrlf=false', '-c', 'core.hooksPath=/dev/null'];
  await git('worktree', 'prune');
  await git(...settings, 'worktree', 'add', '--detach', folder, commit);
  // Both environments have the same script: `npm run bundle` compares them.
  const config = ['--env', 'staging', '--config', join(folder, 'wrangler.toml')];
  await runWrangler(['deploy', '--dry-run', '--outdir', join(folder, 'worker'), ...config]);
  const digest = hash('sha256', await readFile(join(folder, 'worker/index.js')));
  return { commit, digest, folder };
}

export async function git(...args: string[]): Promise<string> {
  return (await promisify(execFile)('git', args, { cwd: PROJECT_ROOT })).stdout.trimEnd();
}

/** Such as `1b4e28ba "List pets by status"`. */
export async function describe(commit = 'a version made by hand'): Promise<string> {
  return git('log', '-1', '--abbrev=8', '--format=%h "%s"', commit).catch(() => commit);
}
