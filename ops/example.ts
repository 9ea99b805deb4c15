/** `npm run example`: runs client/example.ts against the store that `npm start` serves, on any port, or against `--url`. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { reserveStore } from './serving.ts';
import { exitWithUsage } from './usage.ts';
import { PROJECT_ROOT } from './wrangler.ts';

const USAGE = 'usage: npm run example -- [--url https://…/v1 --key <API_KEY>]';

const { url = localUrl(), key } = readArguments();
const args = [join(PROJECT_ROOT, 'client/example.ts'), url, ...(key ? [key] : [])];
process.exitCode = spawnSync(process.execPath, args, { stdio: 'inherit' }).status ?? 1;

function readArguments(): { url?: string; key?: string } {
  try {
    return parseArgs({ options: { url: { type: 'string' }, key: { type: 'string' } } }).values;
  } catch {
    exitWithUsage(USAGE);
  }
}

function localUrl(): string {
  try {
    const port = reserveStore();
    if (port !== undefined) return `http://localhost:${port}/v1`;
  } catch {
    // The store is being reset, or its lock cannot be opened: no store is running.
  }
  console.error(`No local store is running. Start it in another terminal: npm start\n${USAGE}`);
  process.exit(1);
}
