/**
 * `npm run release`: releases HEAD to staging, and then the same commit to production. docs/operations.md explains releases,
 * and release/runbook.ts has their steps.
 */
import { Argument, Option } from 'commander';
import { createProgram, integerFrom, run, yesOption } from './command/command-line.ts';
import { PROJECT_ROOT } from './command/project-root.ts';
import { release, undo } from './release/runbook.ts';

/**
 * The longest hold. Cloudflare ends a tail after six hours without closing its connection: the watch would see nothing more.
 * https://github.com/cloudflare/workers-sdk/issues/14427
 */
const MAX_HOLD_S = 18_000;

const dryRunOption = new Option('--dry-run', 'check, print what would change, and change nothing');
const idOption = new Option('--id <id>', 'the id of this release, for undo (default: random)');

export const program = createProgram('npm run release --', 'Releases the store.');
program
  .command('staging')
  .description('Releases HEAD to staging.')
  .addOption(idOption)
  .addOption(dryRunOption)
  .action((options) => release('staging', options));
program
  .command('promote')
  .description('Releases HEAD to production, if staging serves it.')
  .option(
    '--hold <seconds>',
    'how long the new version gets 10 % of the requests, while its log is watched; 0: not at all',
    integerFrom(0, MAX_HOLD_S),
    300,
  )
  .addOption(idOption)
  .addOption(dryRunOption)
  .addOption(yesOption)
  .action((options) => release('production', options));
program
  .command('undo')
  .description(
    'Goes back from a release that failed or was killed, unless somebody has deployed since.',
  )
  .addArgument(new Argument('<environment>').choices(['staging', 'production']))
  .argument('<id>', 'the id of the release')
  .action(undo);

if (import.meta.main) {
  process.chdir(PROJECT_ROOT);
  await run(program);
}
