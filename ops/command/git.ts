import { execFileSync } from 'node:child_process';

/** Runs git in the repository of the current folder, and returns its output. */
export function git(...args: string[]) {
  forgetRepository();
  // Piped, so that what git prints on standard error is in the message of an error, and not on the terminal.
  return execFileSync('git', args, { encoding: 'utf8', stdio: 'pipe' }).trim();
}

/** Unsets the variables of a repository. A hook exports GIT_DIR, for example, which git prefers to the current folder. */
export function forgetRepository() {
  const names = execFileSync('git', ['rev-parse', '--local-env-vars'], { encoding: 'utf8' });
  for (const name of names.split('\n')) delete process.env[name];
}
