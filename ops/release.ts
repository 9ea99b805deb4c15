/**
 * `npm run release`: HEAD to staging, the same commit to production, and back. docs/operations.md explains it, and
 * release/runbook.ts has its steps.
 */
import { InvalidArgumentError, Option } from 'commander';
import { createProgram, integerFrom, run, yesOption } from './command/command-line.ts';
import { type ReleaseOptions, release, rollback, undo } from './release/runbook.ts';

const environmentOption = new Option('--env <name>')
  .choices(['staging', 'production'])
  .makeOptionMandatory();
const resumeWritesOption = new Option(
  '--resume-writes',
  'release even if writes are stopped, which resumes them',
);
const runOption = new Option(
  '--run <id>',
  'the id of this release, for undo (default: random)',
).argParser(parseReleaseId);

export const program = createProgram('npm run release --', 'Releases the store, and goes back.');
program
  .command('staging')
  .description('Releases HEAD to staging.')
  .addOption(resumeWritesOption)
  .addOption(runOption)
  .action((options: ReleaseOptions) => release('staging', options));
program
  .command('promote')
  .description('Releases HEAD to production, if staging serves it.')
  .option(
    '--hold <seconds>',
    'how long the new version gets 10 % of the requests before it gets all',
    integerFrom(0, 86_400),
    300,
  )
  .option('--unwatched', 'do not watch the log for 500s meanwhile')
  .addOption(resumeWritesOption)
  .addOption(runOption)
  .addOption(yesOption)
  .action((options: ReleaseOptions) => release('production', options));
program
  .command('rollback')
  .description('Serves a version to all.')
  .argument('<version>', 'its id: npx wrangler versions list --env <name>', parseVersionId)
  .addOption(environmentOption)
  .option(
    '--force',
    'even if the version has another database, KV namespace or address, or stops or resumes writes',
  )
  .addOption(yesOption)
  .action(rollback);
program
  .command('undo')
  .description('Goes back from a release that was killed, unless somebody has deployed since.')
  .argument('<run>', 'the id of the release', parseReleaseId)
  .addOption(environmentOption)
  .addOption(yesOption)
  .action(undo);
if (import.meta.main) await run(program);

/** The id is the message of a release's deployments. It has no space, unlike the message of a rollback by hand. */
function parseReleaseId(text: string): string {
  if (/^\w[\w.-]{0,99}$/.test(text)) return text;
  throw new InvalidArgumentError(
    'It must be up to 100 letters, digits, dots and hyphens, and begin with a letter or digit.',
  );
}

/** Without an id, wrangler would serve the version before. In capitals, it is not the id that Cloudflare lists. */
function parseVersionId(text: string): string {
  if (/^[0-9a-f-]{36}$/.test(text)) return text;
  throw new InvalidArgumentError('It must be the id of a version.');
}
