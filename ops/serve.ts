/**
 * Serves the local store, for `npm start`, which forks this process. It ends when its parent ends, even if that was
 * killed: the runtime would otherwise go on serving.
 *
 * Not the command `wrangler dev`, but what it runs: the command logs each request a second time, and warns that
 * cron triggers do not run locally.
 */
import { join } from 'node:path';
import { unstable_DevEnv as DevEnv } from 'wrangler';
import { PROJECT_ROOT } from './wrangler.ts';

/** The log line of a request that failed because files of D1 or KV are damaged or gone. */
const STORAGE_FAILURE =
  /"cause":"[^"]*(?:internal error|Network connection lost|did not answer|SQLITE_(?:CORRUPT|NOTADB|IOERR|CANTOPEN))/;

process.on('disconnect', () => process.exit());
// Ctrl-C reaches both processes: the parent decides.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => {});

const server = new DevEnv();
// Also after each change of a source file.
server.on('reloadComplete', () => process.send?.('ready'));
await server.startWorker({
  config: join(PROJECT_ROOT, 'wrangler.toml'),
  // The top level, whatever CLOUDFLARE_ENV in a .env file says.
  env: '',
  dev: {
    server: { hostname: 'localhost', port: Number(process.argv[2]) },
    inspector: false,
    structuredLogsHandler: ({ message }: { message: string }) => {
      console.log(message);
      if (STORAGE_FAILURE.test(message))
        console.error(
          'Storage failed. If it fails again, stop the store (Ctrl-C) and empty it: npm run reset',
        );
    },
  },
});
