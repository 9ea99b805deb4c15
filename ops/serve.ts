/**
 * Serves the local store. `npm start` forks this process, which exits when its parent exits or is killed: the runtime
 * would otherwise continue to serve.
 *
 * Uses the API behind `wrangler dev`, because the command logs each request a second time and warns that cron triggers do
 * not run locally.
 */
import { join } from 'node:path';
import { unstable_DevEnv as DevEnv } from 'wrangler';
import { PROJECT_ROOT } from './wrangler.ts';

/** Matches the log line of a request that failed because files of D1 or KV are damaged or missing. */
const STORAGE_FAILURE =
  /"cause":"[^"]*(?:internal error|Network connection lost|did not respond|SQLITE_(?:CORRUPT|NOTADB|IOERR|CANTOPEN))/;

process.on('disconnect', () => process.exit());
// On Windows, Ctrl-C sends the signal to both processes. The parent handles it.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => {});

const server = new DevEnv();
// Emitted at the start and after each change of a source file.
server.on('reloadComplete', () => process.send?.('ready'));
await server.startWorker({
  config: join(PROJECT_ROOT, 'wrangler.toml'),
  // The top level of wrangler.toml, even if a .env file sets CLOUDFLARE_ENV.
  env: '',
  dev: {
    server: { hostname: 'localhost', port: Number(process.argv[2]) },
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
