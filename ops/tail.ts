/** Watches the log of a version for its 500s, with `wrangler tail`. */
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { errorText, startWrangler } from './wrangler.ts';

/**
 * Resolves when the log is watched. `signal` ends that, too.
 *
 * @throws Error if it cannot be watched, for example because the token lacks a permission.
 */
export async function watchErrors(environment: string, version: string, signal: AbortSignal) {
  // Cloudflare filters. Not as JSON: then wrangler does not say when it is connected.
  const filters = ['--version-id', version, '--search', 'internal_error'];
  const child = startWrangler(['tail', '--env', environment, '--format', 'pretty', ...filters]);
  const end = () => void child.kill('SIGTERM');
  signal.addEventListener('abort', end, { once: true });

  const connected = Promise.withResolvers<void>();
  let problem = '';
  createInterface(child.stdout).on('line', (line) => {
    if (line.startsWith('Connected to ')) connected.resolve();
    if (line.includes('"internal_error"')) problem ||= `the version answered 500: ${line}`;
  });
  text(child.stderr).then((output) => {
    problem ||= `the log is not watched: ${errorText(output)}`;
    connected.reject(new Error(problem));
  });
  await connected.promise;
  return {
    end,
    /** @throws Error with the line of the first 500, or if the log is not watched any more. */
    requireNone() {
      if (problem) throw new Error(problem);
    },
  };
}
