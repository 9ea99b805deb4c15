/** `npm run reset`: empties the local store, even if its files are damaged. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { createProgram, run } from './command/command-line.ts';
import { PROJECT_ROOT } from './command/project-root.ts';
import { isInUse } from './local/store.ts';

export const program = createProgram('npm run reset --', 'Empties the whole local store.').action(
  () => {
    if (isInUse()) throw new Error('the store is in use: stop wrangler dev (Ctrl-C)');
    rmSync(join(PROJECT_ROOT, '.wrangler'), { recursive: true, force: true });
    console.log('The local store is empty. npm start sets it up again.');
  },
);

if (import.meta.main) await run(program);
