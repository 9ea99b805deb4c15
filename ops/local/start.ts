/** `npm start`: sets up the local store and serves it. */
import { once } from 'node:events';
import { connect } from 'node:net';
import { join } from 'node:path';
import { createProgram, integerFrom, onStop, run } from '../command-line.ts';
import { PROJECT_ROOT, WRANGLER_ENV } from '../wrangler.ts';
import { reserveStore } from './serving.ts';
import { LOCAL_KEY, setUpLocalStore } from './store.ts';

/** Matches the log line of a request that failed because files of D1 or KV are damaged or missing. */
const STORAGE_FAILURE =
  /"cause":"[^"]*(?:internal error|Network connection lost|did not respond|SQLITE_(?:CORRUPT|NOTADB|IOERR|CANTOPEN))/;

// Wrangler ends the runtime when this process exits.
onStop(() => process.exit());

const program = createProgram('npm start --', 'Sets up the local store and serves it.')
  .option('--port <number>', 'the port on localhost', integerFrom(1, 65_535), 8787)
  .action(async ({ port }: { port: number }) => {
    reserveStore(port);
    if (await isInUse(port)) {
      const other = (port % 65_535) + 1;
      throw new Error(`port ${port} is in use. Choose another: npm start -- --port ${other}`);
    }
    console.log('Setting up the local store …');
    await setUpLocalStore();
    await serve(port);
    console.log(banner(`http://localhost:${port}`));
  });

await run(program);
// A runtime that could not start would keep the process running.
if (process.exitCode) process.exit();

/** Serves the store with the API behind `wrangler dev`, because the command logs each request a second time. */
async function serve(port: number): Promise<void> {
  Object.assign(process.env, WRANGLER_ENV, { WRANGLER_LOG: 'warn' });
  // Imported only here, because loading wrangler would delay the error for invalid arguments.
  const { unstable_DevEnv: DevEnv } = await import('wrangler');
  const server = new DevEnv();
  const isReady = new Promise((resolve) => server.once('reloadComplete', resolve));
  await server.startWorker({
    config: join(PROJECT_ROOT, 'wrangler.toml'),
    // The top level of wrangler.toml, even if a .env file sets CLOUDFLARE_ENV.
    env: '',
    dev: {
      server: { hostname: 'localhost', port },
      inspector: false,
      structuredLogsHandler: ({ message }: { message: string }) => {
        console.log(message);
        if (STORAGE_FAILURE.test(message))
          console.error(
            'Storage failed. If this error repeats, stop the store (Ctrl-C) and empty it: npm run reset',
          );
      },
    },
  });
  await isReady;
  server.on('reloadComplete', () => console.log('Reloaded after a change.'));
}

function banner(origin: string): string {
  return `
The animal store is ready.

  Try it in the browser:
  ${origin}/docs

  Base address (not a page), and the key of every local store:
  ${origin}/v1
  ${LOCAL_KEY}

  curl -i ${origin}/v1/pets -H 'Authorization: Bearer ${LOCAL_KEY}'

Ctrl-C stops the store, \`npm run reset\` empties it. Log of requests:
`;
}

/** Whether a program listens on the port, at an address of `localhost`. */
async function isInUse(port: number): Promise<boolean> {
  const socket = connect(port, 'localhost');
  const connected = await once(socket, 'connect').catch(() => undefined);
  socket.destroy();
  return connected !== undefined;
}
