/** `npm run reset`: empties the local store, even if its files are damaged. */
import { rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { createProgram, run } from '../command-line.ts';
import { PROJECT_ROOT } from '../wrangler.ts';
import { reserveStore } from './serving.ts';

const FOLDER = join(PROJECT_ROOT, '.wrangler');

const program = createProgram('npm run reset --', 'Empties the whole local store.').action(
  async () => {
    reserveStore();
    const isFile = statSync(FOLDER, { throwIfNoEntry: false })?.isFile();
    rmSync(isFile ? FOLDER : join(FOLDER, 'state'), { recursive: true, force: true });
    console.log('The local store is empty. npm start sets it up again.');
  },
);

await run(program);
