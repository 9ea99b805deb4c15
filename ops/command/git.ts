import { execFileSync } from 'node:child_process';

/** Runs git in the repository of the current folder, and returns its output. */
export function git(...args: string[]) {
  // Piped, so that what git prints on standard error is in the message of an error, and not on the terminal.
  return execFileSync('git', args, { encoding: 'utf8', stdio: 'pipe' }).trim();
}
