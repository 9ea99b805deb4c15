/**
 * Serves the local store, for `npm start`, which forks this process. It ends when its parent ends, even if that was
 * killed: the runtime would otherwise go on serving.
 *
 * Not the command `wrangler dev`, but what it runs: the command logs each request a second time, and warns that
 * cron triggers do not run locally.
 */
import { join } from 'node:path';
import { unstable_startWorker as startWorker } from 'wrangler';
import { PROJECT_ROOT } from './wrangler.ts';

/** What D1 and KV say when their files are damaged or gone. */
const STORAGE_FAILURE =
  /"code":"service_unavailable"|Network connection lost|SQLITE_(?:CORRUPT|NOTADB|IOERR|CANTOPEN)|internal error/;

process.on('disconnect', () => process.exit());
// Ctrl-C reaches both processes: the parent decides.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => {});

const worker = await startWorker({
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
          'The store cannot use its files. If this goes on, stop it (Ctrl-C), then: npm run reset',
        );
    },
  },
});
await worker.ready;
process.send?.('ready');
worker.raw.on('reloadComplete', () => console.log('Reloaded after a change.'));
