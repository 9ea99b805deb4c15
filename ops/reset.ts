/** `npm run reset`: empties the local store, even if its files are damaged. */
import { rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { emptyServedStore, LOCAL_KEY, setUpLocalStore } from './local-store.ts';
import { reserveStore } from './serving.ts';
import { exitWithUsage } from './usage.ts';
import { LOCAL_FOLDER } from './wrangler.ts';

// An argument such as --help or --env must not empty the store.
if (process.argv.length > 2) {
  exitWithUsage('usage: npm run reset   (empties the whole local store; accepts no arguments)');
}

let served: number | undefined;
try {
  served = reserveStore();
  if (served === undefined) {
    const isFile = statSync(LOCAL_FOLDER, { throwIfNoEntry: false })?.isFile();
    const data = isFile ? LOCAL_FOLDER : join(LOCAL_FOLDER, 'state');
    rmSync(data, { recursive: true, force: true });
    await setUpLocalStore();
  } else {
    await emptyServedStore();
    const response = await fetch(`http://localhost:${served}/v1/pets`, {
      headers: { Authorization: `Bearer ${LOCAL_KEY}` },
    });
    // Fails if the files were deleted or replaced while the runtime has the old ones open.
    if (!response.ok) throw new Error(await response.text());
  }
  console.log('The local store is empty.');
} catch (error) {
  const reason = error instanceof Error ? error.message : error;
  console.error(
    served === undefined
      ? `error: the local store cannot be emptied: ${reason}`
      : `error: the store cannot be emptied while it runs on port ${served}. Stop it and run the command again. (${reason})`,
  );
  process.exitCode = 1;
}
