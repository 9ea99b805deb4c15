/**
 * `npm run bench -- against COMMIT`: fails if a request takes more CPU time than at the merge base
 * with that commit.
 */
import { randomUUID } from 'node:crypto';
import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { git } from '../ops/command/git.ts';
import { PROJECT_ROOT } from '../ops/command/project-root.ts';
import { race, toTable } from './race.ts';
import { build, STUBBED } from './servers.ts';

const MAX_RATIO = 1.1;

/**
 * Half of the rounds of a ratio have to be within so much of it. On an idle machine they are within
 * less.
 */
const MAX_SPREAD = 0.1;

/** Both have the stub bindings of their own commit, and the packages that are installed here. */
export async function raceAgainst(commit: string): Promise<void> {
  const base = git('merge-base', 'HEAD', commit);
  const checkout = join(PROJECT_ROOT, '.wrangler', randomUUID());
  git('worktree', 'add', '--detach', checkout, base);
  try {
    // Its `[build]` command packs the client, and needs the packages in the checkout itself.
    symlinkSync(join(PROJECT_ROOT, 'node_modules'), join(checkout, 'node_modules'), 'junction');
    const results = await race([await build(STUBBED), await build(STUBBED, checkout)]);
    console.log(toTable(results, [base.slice(0, 8)]));
    const ratios = results.flatMap(([, ...others]) => others);
    const isBusy = ratios.some(({ value, low, high }) => high - low > MAX_SPREAD * value);
    // On a busy machine, three quarters of the rounds have to show it.
    if (ratios.some(({ value, low }) => (isBusy ? low : value) > MAX_RATIO))
      throw new Error(`a request takes more than ${MAX_RATIO} of its CPU time at ${base}`);
    if (isBusy) console.log('no result: the machine is busy');
  } finally {
    git('worktree', 'remove', '--force', checkout);
  }
}
