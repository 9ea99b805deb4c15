import { execFileSync } from 'node:child_process';

/** Runs git in the repository of the current folder, and returns its output. */
export function git(...args: string[]) {
  // Piped, so that what git prints on standard error is in the message of an error, and not on the
  // terminal.
  return execFileSync('git', args, { encoding: 'utf8', stdio: 'pipe' }).trim();
}

/**
 * Returns the id of HEAD. `except`: files that may differ.
 *
 * @throws Error unless what is deployed is that of HEAD.
 */
export function readCommit(...except: string[]): string {
  const paths = ['--', '.', ...except.map((path) => `:(exclude)${path}`)];
  const changed = git('status', '--porcelain', '--untracked-files=all', ...paths);
  // Wrangler also uploads ignored files. The client's package is one, which each build writes.
  const uploaded = ['src', 'public', 'migrations', ':!public/client-*.tgz'];
  const ignored = git('ls-files', '-oi', '--exclude-standard', ...uploaded);
  if (changed || ignored) throw new Error(`commit or remove first: ${changed} ${ignored}`);
  return git('rev-parse', 'HEAD');
}
