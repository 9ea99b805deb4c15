/** Watches the log of a version for its 500s, with `wrangler tail`. */
import { createInterface } from 'node:readline';
import { errorText, startWrangler } from '../command/wrangler.ts';

/**
 * Resolves when the log is watched. The first 500 and, until `allowLoss` is called, a lost connection abort `stop`. An abort
 * of `stop` ends the watch.
 *
 * @throws Error if the log cannot be watched, for example because the token lacks a permission.
 */
export async function watchErrors(environment: string, version: string, stop: AbortController) {
  stop.signal.throwIfAborted();
  // Cloudflare filters. Not as JSON: then wrangler does not say when it is connected.
  const filters = ['--version-id', version, '--search', 'internal_error'];
  const child = startWrangler(['tail', '--env', environment, '--format', 'pretty', ...filters]);
  const connected = Promise.withResolvers<void>();
  let warnings = '';
  let mayBeLost = false;

  const failWatch = () => {
    if (mayBeLost) return;
    const reason = errorText(warnings) || 'wrangler tail is not connected';
    const problem = `the watch of the log failed, not the version: ${reason}`;
    stop.abort(new Error(`${problem}. To promote without a watch: --hold 0`));
  };
  createInterface(child.stdout).on('line', (line) => {
    if (line.startsWith('Connected to ')) connected.resolve();
    if (line.includes('"internal_error"'))
      stop.abort(new Error(`the version answered 500: ${line}`));
  });
  child.stderr.on('data', (text) => {
    warnings += text;
    // Wrangler would connect again, but never learn of the 500s meanwhile.
    if (warnings.includes('Tail connection lost')) failWatch();
  });
  child.on('close', failWatch);
  stop.signal.addEventListener('abort', () => {
    child.kill('SIGTERM');
    connected.reject(stop.signal.reason);
  });

  await connected.promise;
  return {
    allowLoss: () => {
      mayBeLost = true;
    },
  };
}
