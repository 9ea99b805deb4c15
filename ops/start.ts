/** `npm start`: sets up the local store, serves it, and reloads the worker when its code changes. */
import { once } from 'node:events';
import { createServer } from 'node:net';
import { Option } from 'commander';
import {
  createProgram,
  integerFrom,
  onStop,
  run,
  safeMessage,
  visible,
} from './command/command-line.ts';
import { PROJECT_ROOT } from './command/project-root.ts';
import { LOCAL_ENV } from './command/wrangler.ts';
import { LOCAL_KEY, RUNTIME, reserveStore, setUpLocalStore } from './local/store.ts';

const portOption = new Option('--port <number>', 'the port on localhost')
  .argParser(integerFrom(1, 65_535))
  .default(8787)
  // `npm start --port=8842`: npm does not pass the option on, but sets this variable.
  .env('npm_config_port');

export const program = createProgram('npm start --', 'Sets up the local store and serves it.')
  .addOption(portOption)
  .action(async ({ port }: { port: number }) => {
    // A stop is no failure, and ends the wrangler of the set-up, too. Registered before the handlers of Miniflare, wrangler's simulator,
    // which exit with a code above 128:
    // https://github.com/cloudflare/workers-sdk/blob/4cbd667224d4f7f3dda00fce0f4983c6418ed90b/packages/miniflare/src/exit-hook.ts
    onStop(() => process.exit());
    reserveStore();
    await setUpLocalStore();
    console.log('Starting the server …');
    const hostname = await findHostname();
    await serve(hostname, port);
    const origin = `http://${hostname}:${port}`;
    console.log(`\nThe animal store is ready: ${origin}/docs\n`);
    console.log(`  curl -i -w '\\n' ${origin}/v1/pets -H 'Authorization: Bearer ${LOCAL_KEY}'\n`);
    console.log('Ctrl-C stops it, `npm run reset` empties it. Log of requests:\n');
  });

if (import.meta.main) await run(program);

/** Finds the name of this machine: 127.0.0.1 where `localhost` is ::1 without IPv6, as in some containers. */
async function findHostname(): Promise<string> {
  const probe = createServer().listen(0, 'localhost');
  try {
    await once(probe, 'listening');
    return 'localhost';
  } catch {
    return '127.0.0.1';
  } finally {
    probe.close();
  }
}

/** Serves the store until this process ends. Resolves when the store answers. */
async function serve(hostname: string, port: number) {
  // Wrangler runs in this process. It looks for its files in the current folder, and reads these variables.
  process.chdir(PROJECT_ROOT);
  Object.assign(process.env, LOCAL_ENV, {
    WRANGLER_LOG: 'warn',
    MINIFLARE_WORKERD_PATH: RUNTIME,
  });
  const { unstable_startWorker } = await import('wrangler');
  const server = await unstable_startWorker({
    config: 'wrangler.toml',
    // The top level of wrangler.toml, even if a .env file sets CLOUDFLARE_ENV.
    env: '',
    dev: {
      // The runtime's inspector checks no origin: a web page that finds its port can run code in the worker.
      // https://github.com/cloudflare/workers-sdk/pull/9550
      inspector: false,
      server: { hostname, port },
      // The level `warn` drops wrangler's line for each request, but also the worker's, which this handler prints.
      structuredLogsHandler: ({ message }: { message: string }) =>
        // A message can have values of a request's headers.
        console.log(message.split('\n').map(visible).join('\n')),
    },
  }).catch(fail);
  server.raw.on('error', fail);
  // Waits until the runtime has loaded the worker, then until wrangler's proxy listens.
  await once(server.raw, 'reloadComplete');
  await server.ready;
}

/** Prints wrangler's error, which can be the cause of the one that is passed, and ends this process. */
function fail(error: Error): never {
  console.error(`error: ${safeMessage(error.cause ?? error)}`);
  process.exit(1);
}
