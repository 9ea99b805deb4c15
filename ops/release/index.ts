/** `npm run release`: to staging, the same bytes to production, and back. See docs/operations.md. */
import { InvalidArgumentError, Option } from 'commander';
import { createProgram, run } from '../command-line.ts';
import { DIFFERENCES } from './checks.ts';
import { ENVIRONMENTS } from './cloudflare.ts';
import * as commands from './commands.ts';

const controller = new AbortController();
const stop = () => controller.abort();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, stop);
// When npm is stopped, the shell between npm and this process ends without a signal to it.
const parent = process.ppid;
setInterval(() => process.ppid === parent || stop(), 500).unref();

const environment = () =>
  new Option('--env <environment>').choices(ENVIRONMENTS).makeOptionMandatory();
const yes = () => new Option('--yes', 'do not ask');
const allow = () =>
  new Option('--allow <differences...>', 'changes that are wanted')
    .choices(DIFFERENCES)
    .default([]);
type Options = Omit<commands.Options, 'signal'>;
const withSignal = (options: Options) => ({ ...options, signal: controller.signal });

const DESCRIPTION = 'Releases to staging, promotes the same bytes to production, and rolls back.';
const program = createProgram('npm run release --', DESCRIPTION);
program
  .command('first')
  .description('Sets up an environment that has no worker: migrations, deployment, routes.')
  .addOption(environment())
  .addOption(yes())
  .action((options: Options) => commands.first(withSignal(options)));
program
  .command('staging')
  .description('Releases the commit that is checked out to staging, and tests it.')
  .addOption(allow())
  .action((options: Options) => commands.staging(withSignal(options)));
program
  .command('promote')
  .description('Releases to production what staging serves.')
  .option('--commit <id>', 'refuse if staging serves another commit')
  .option('--hold <seconds>', 'how long a share is held', parseHold, 300)
  .option('--shares <percentages>', 'such as 10,50,100', parseShares, [10, 100])
  .addOption(allow())
  .addOption(yes())
  .action((options: Options) => commands.promote(withSignal(options)));
program
  .command('rollback')
  .description('Serves a version to all again.')
  .argument('<version>', 'its id, or at least 8 characters of it')
  .addOption(environment())
  .option('--force', 'even if it is not known to have passed its tests')
  .addOption(yes())
  .action((version: string, options: Options) => commands.rollback(version, withSignal(options)));
program
  .command('smoke')
  .description('Tests a store as a client. Its API key comes from SMOKE_API_KEY.')
  .addOption(environment())
  .action((options: Options) => commands.test(withSignal(options)));
await run(program);

function parseHold(text: string): number {
  if (/^[0-9]{1,5}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It must be an integer from 0 to 99999.');
}

/** Ascending percentages that end with 100. */
function parseShares(text: string): number[] {
  const shares = text.split(',').map(Number);
  const ascend = shares.every((share, index) => share > (shares[index - 1] ?? 0) && share <= 100);
  if (ascend && shares.at(-1) === 100) return shares;
  throw new InvalidArgumentError('It must be ascending percentages that end with 100.');
}
