/** Watches the log of a version for its 500s, with `wrangler tail`. */
import { createInterface } from 'node:readline';
import { errorText, startWrangler } from '../command/wrangler.ts';

/**
 * Resolves when the log is watched. The first 500 aborts `stop`, and so does a lost connection. An abort of `stop` ends the watch.
 *
 * @returns a function: after its call, a lost connection is ignored.
 *
 * @throws Error if the log cannot be watched, for example because the token lacks a permission.
 */
export async function watchErrors(environment: string, version: string, stop: AbortController) {
  stop.signal.throwIfAborted();
  // Cloudflare sends only requests that logged this text.
  const filters = ['--version-id', version, '--search', 'internal_error'];
  const child = startWrangler(['tail', '--env', environment, '--format', 'pretty', ...filters]);
  const connected = Promise.withResolvers<void>();
  let stderr = '';
  let mayDisconnect = false;

  const failWatch = () => {
    if (mayDisconnect) return;
    const reason = errorText(stderr) || 'wrangler tail is not connected';
    const hint = 'To promote without a watch: --hold 0';
    stop.abort(new Error(`the watch of the log failed, not the version: ${reason}. ${hint}`));
  };
  // Comes first: if wrangler cannot be started, `child.stdout` may be undefined, and the statements below throw. Without this
  // listener, the error of the start would then end the process.
  child.on('error', (error) => stop.abort(error));
  child.on('close', failWatch);
  stop.signal.addEventListener('abort', () => {
    child.kill('SIGTERM');
    // After SIGTERM, wrangler asks Cloudflare to delete the tail. While it waits for the answer to an earlier call, it does not end.
    setTimeout(() => child.kill('SIGKILL'), 10_000).unref();
    connected.reject(stop.signal.reason);
  });
  const timer = setTimeout(failWatch, 60_000).unref();
  createInterface(child.stdout).on('line', (line) => {
    // Only this line of wrangler 4.164 says that it is connected, and only with --format pretty.
    if (line.startsWith('Connected to ')) connected.resolve();
    if (line.includes('"internal_error"'))
      stop.abort(new Error(`the version answered 500: ${line}`));
  });
  child.stderr.on('data', (text) => {
    stderr += text;
    // Matched, because wrangler 4.164 only warns: it connects again, but never learns of the 500s meanwhile.
    if (stderr.includes('Tail connection lost')) failWatch();
  });

  await connected.promise;
  clearTimeout(timer);
  return () => {
    mayDisconnect = true;
  };
}
