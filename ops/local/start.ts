/** `npm start`: sets up the local store and serves it with `wrangler dev`. */
import { once } from 'node:events';
import { connect } from 'node:net';
import { createInterface } from 'node:readline';
import { createProgram, integerFrom, onStop, run } from '../command-line.ts';
import { startWrangler } from '../wrangler.ts';
import { LOCAL_KEY, reserveStore, setUpLocalStore } from './store.ts';

export const program = createProgram('npm start --', 'Sets up the local store and serves it.')
  .option('--port <number>', 'the port on localhost', integerFrom(1, 65_535), 8787)
  .action(async ({ port }: { port: number }) => {
    reserveStore();
    if (await isInUse(port))
      throw new Error(`port ${port} is in use. Choose another: npm start -- --port <number>`);
    console.log('Setting up the local store …');
    await setUpLocalStore();
    await serve(port);
  });

if (import.meta.main) await run(program);

/** Serves the store until it is stopped. */
async function serve(port: number): Promise<void> {
  const options = ['--ip', 'localhost', '--port', String(port), '--inspector-port', '0'];
  // The empty name selects the top level of wrangler.toml, even if a .env file sets CLOUDFLARE_ENV.
  const server = startWrangler(['dev', '--env', '', ...options]);
  let isStopped = false;
  onStop(() => {
    isStopped = true;
    server.kill('SIGTERM');
  });
  server.stderr.pipe(process.stderr);
  let isReady = false;
  for await (const line of createInterface({ input: server.stdout })) {
    // The service logs each request. Wrangler's own line for it is left out.
    if (isReady && !line.startsWith('[wrangler:info]')) console.log(line);
    if (!isReady && line.includes('Ready on')) {
      isReady = true;
      console.log(banner(`http://localhost:${port}`));
    }
  }
  if (!isStopped) throw new Error('wrangler dev has ended');
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
