/** Watches the log of a version for its 500s, with `wrangler tail`. */
import { createInterface } from 'node:readline';
import { errorText, startWrangler } from '../command/wrangler.ts';

/** How much later than its first line the last line of an event may come. */
const EVENT_MS = 1_000;
const LOST = 'the watch of the log failed, not the version (without a watch: --hold 0): ';

/**
 * Resolves when the log is watched. The first 500 aborts `stop`, and so does any other line: under load, Cloudflare drops events and
 * says so in words of its own. A lost connection aborts it, too. An abort of `stop` ends the watch.
 *
 * @throws Error if the log cannot be watched, for example because the token lacks a permission.
 */
export async function watchErrors(environment: string, version: string, stop: AbortController) {
  stop.signal.throwIfAborted();
  // Cloudflare sends only requests that logged this text.
  const filters = ['--version-id', version, '--search', 'internal_error'];
  const args = ['tail', '--env', environment, '--format', 'pretty', ...filters];
  // Detached: a group of processes, which `endTail` can end.
  const child = startWrangler(args, { detached: true });
  const connected = Promise.withResolvers<void>();
  let isConnected = false;
  let stderr = '';
  let event = '';

  const collect = (line: string) => {
    if (line.includes('"internal_error"'))
      return stop.abort(new Error(`the version answered 500: ${event}${line}`));
    // Of a request that answered 500, this can be the first line.
    if (!event) setTimeout(() => stop.abort(new Error(LOST + event)), EVENT_MS);
    event += `${line} `;
  };
  const disconnect = () =>
    stop.abort(new Error(LOST + (errorText(stderr) || 'wrangler tail is not connected')));
  // Comes first: if wrangler cannot be started, `child.stdout` may be undefined, and the statements below throw. Without this
  // listener, the error of the start would then end the process.
  child.on('error', (error) => stop.abort(error));
  child.on('close', disconnect);
  stop.signal.addEventListener('abort', () => {
    endTail(child);
    connected.reject(stop.signal.reason);
  });
  const timer = setTimeout(disconnect, 60_000).unref();
  createInterface(child.stdout).on('line', (line) => {
    if (isConnected) return collect(line);
    // Only this line of wrangler 4.164 says that it is connected, and only with --format pretty. Without it, the release ends.
    isConnected = line.startsWith('Connected to ');
    if (isConnected) connected.resolve();
  });
  child.stderr.on('data', (text) => {
    stderr += text;
    // Wrangler only warns of a lost connection. It connects again, but never learns of the 500s until then.
    if (isConnected) disconnect();
  });

  await connected.promise;
  clearTimeout(timer);
}

function endTail(child: ReturnType<typeof startWrangler>) {
  child.kill('SIGTERM');
  // After SIGTERM, wrangler asks Cloudflare to delete the tail. While it waits for the answer to an earlier call, it does not end.
  setTimeout(() => {
    const isRunning = (child.exitCode ?? child.signalCode) === null;
    // The whole group, because wrangler does not pass SIGKILL on.
    if (isRunning) process.kill(-Number(child.pid), 'SIGKILL');
  }, 10_000).unref();
}
