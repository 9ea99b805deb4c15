/** `npm run reset`: empties the local store, whatever state its files are in. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { emptyServedStore, LOCAL_KEY, setUpLocalStore } from './local-store.ts';
import { reserveStore } from './serving.ts';
import { LOCAL_FOLDER } from './wrangler.ts';

// An argument may be a request for help, or for another store: this one must not be lost.
if (process.argv.length > 2) {
  console.error('usage: npm run reset   (no arguments: it empties the whole local store)');
  process.exit(2);
}

const served = reserve();
try {
  if (served === undefined) {
    rmSync(join(LOCAL_FOLDER, 'state'), { recursive: true, force: true });
    await setUpLocalStore();
  } else {
    await emptyServedStore();
    const answer = await fetch(`http://localhost:${served}/v1/pets`, {
      headers: { Authorization: `Bearer ${LOCAL_KEY}` },
    });
    // Its files were deleted or replaced while it runs, and it has the old ones open.
    if (!answer.ok) throw new Error(await answer.text());
  }
  console.log('The local store is empty.');
} catch (error) {
  const reason = error instanceof Error ? error.message : error;
  console.error(
    served === undefined
      ? `error: the local store cannot be emptied: ${reason}`
      : `error: the store cannot be emptied while it runs at port ${served}. Stop it, then run this again. (${reason})`,
  );
  process.exitCode = 1;
}

/** The port at which the store is served, or `undefined` once it is reserved for this process. */
function reserve(): number | undefined {
  try {
    return reserveStore();
  } catch {
    // The folder is a file, or the lock is damaged: nothing can be served from it.
    rmSync(LOCAL_FOLDER, { recursive: true, force: true });
    return reserveStore();
  }
}
