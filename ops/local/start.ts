/** `npm start`: sets up the local store and serves it with `wrangler dev`. */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { createProgram, integerFrom, onStop, run } from '../command-line.ts';
import { startWrangler } from '../wrangler.ts';
import { LOCAL_KEY, reserveStore, setUpLocalStore } from './store.ts';

/** Wrangler gets a process group of its own, by which its children can be ended. Windows has none. */
const HAS_GROUPS = process.platform !== 'win32';

export const program = createProgram('npm start --', 'Sets up the local store and serves it.')
  .option('--port <number>', 'the port on localhost', integerFrom(1, 65_535), 8787)
  .action(async ({ port }: { port: number }) => {
    reserveStore();
    if (await isInUse(port))
      throw new Error(`port ${port} is in use. Choose another: npm start -- --port <number>`);
    await setUpLocalStore();
    console.log('Starting the server …');
    await serve(port);
  });

if (import.meta.main) await run(program);

/**
 * Serves the store until it is stopped.
 *
 * @throws Error if wrangler ends by itself.
 */
async function serve(port: number): Promise<void> {
  const options = ['--ip', 'localhost', '--port', String(port), '--inspector-port', '0'];
  // The empty name selects the top level of wrangler.toml, even if a .env file sets CLOUDFLARE_ENV.
  const server = startWrangler(['dev', '--env', '', ...options], { detached: HAS_GROUPS });
  let isStopped = false;
  onStop(() => {
    isStopped = true;
    server.kill('SIGTERM');
  });
  printWarnings(server.stderr, () => isStopped);
  await printLines(server.stdout, `http://localhost:${port}`);
  if (isStopped) return;
  endGroup(server);
  throw new Error(
    'wrangler has ended, so the store is no longer served. Start it again: npm start',
  );
}

/**
 * Prints wrangler's warnings and errors until it is stopped: then its bundler can print a stack. Leaves out the warning about
 * scheduled handlers, which ends with two empty lines: development does not need the sweep of idempotency keys.
 */
async function printWarnings(output: Readable, isStopped: () => boolean): Promise<void> {
  let isHidden = false;
  let previous = '';
  for await (const line of createInterface({ input: output })) {
    if (line.includes('Scheduled Workers are not automatically triggered')) isHidden = true;
    if (!isHidden && !isStopped()) console.error(line);
    if (previous + line === '') isHidden = false;
    previous = line;
  }
}

/** Prints the banner when the server is ready, and then the service's log line of each request. */
async function printLines(output: Readable, origin: string): Promise<void> {
  let isReady = false;
  for await (const line of createInterface({ input: output })) {
    // Wrangler's own line for a request is left out.
    if (isReady && !line.startsWith('[wrangler:info]')) console.log(line);
    if (!isReady && line.includes('Ready on')) {
      isReady = true;
      console.log(banner(origin));
    }
  }
}

/** Ends the runtime that a killed wrangler leaves behind, which would keep the port. */
function endGroup({ pid }: ChildProcess): void {
  if (!pid || !HAS_GROUPS) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // Nothing of it is left.
  }
}

function banner(origin: string): string {
  return `
The animal store is ready: ${origin}/docs

  curl -i ${origin}/v1/pets -H 'Authorization: Bearer ${LOCAL_KEY}'

Ctrl-C stops it, \`npm run reset\` empties it. Log of requests:
`;
}

/** Whether a program listens on the port, at an address of `localhost`. */
async function isInUse(port: number): Promise<boolean> {
  const socket = connect(port, 'localhost');
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
