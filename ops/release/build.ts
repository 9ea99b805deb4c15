/** What is released: a commit, built from its own files and the installed packages. */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { PROJECT_ROOT, runWrangler } from '../wrangler.ts';

/** A commit in a folder laid out like the project. `digest`: SHA-256 of the script; assets are files of the commit. */
export type Build = { commit: string; digest: string; folder: string; worker: string };

/** Builds a commit in dist/next or dist/served, in the project, whose packages it uses. */
export async function buildCommit(commit: string, name: 'next' | 'served'): Promise<Build> {
  const folder = join(PROJECT_ROOT, 'dist', name);
  await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  // Only committed files: what git ignores may be a secret. With the bytes of the commit, on Windows too.
  await git('-c', 'core.autocrlf=false', 'worktree', 'add', '--detach', '--force', folder, commit);
  // Both environments have the same script: `npm run bundle` compares them.
  const config = ['--env', 'staging', '--config', join(folder, 'wrangler.toml')];
  await runWrangler(['deploy', '--dry-run', '--outdir', join(folder, 'worker'), ...config]);
  const worker = join(folder, 'worker/index.js');
  const digest = createHash('sha256')
    .update(await readFile(worker))
    .digest('hex');
  return { commit, digest, folder, worker };
}

/** Runs git in the project. */
export async function git(...args: string[]): Promise<string> {
  return (await promisify(execFile)('git', args, { cwd: PROJECT_ROOT })).stdout.trimEnd();
}

/** Such as `1b4e28ba "List pets by status"`. */
export async function describe(commit = 'a version made by hand'): Promise<string> {
  return git('log', '-1', '--abbrev=8', '--format=%h "%s"', commit).catch(() => commit);
}
