/** `npm run release`: from staging to production, the same bytes, and back. See docs/operations.md. */
import { InvalidArgumentError, Option } from 'commander';
import { createProgram, environmentOption, oneLine, run } from './command-line.ts';
import type { Environment } from './key-namespace.ts';
import * as commands from './release/commands.ts';
import type { Output } from './release/rollout.ts';
import { ENVIRONMENTS } from './release/target.ts';

const program = createProgram(
  'npm run release --',
  'Releases to staging, promotes the same bytes to production, and rolls back.',
);

type Wait = { wait: number; commit?: string };
command('staging', 'Builds the commit that is checked out, releases it to staging, and proves it.')
  .addOption(waitOption(0))
  .action(execute((output, { wait }: Wait) => commands.releaseToStaging(output, wait)));

command('promote', 'Gives production what staging proved: 0, 10, 50 and 100 % of the requests.')
  .addOption(waitOption(60))
  .option('--commit <id>', 'refuse if staging has proved another commit by now')
  .action(execute((output, { wait, commit }: Wait) => commands.promote(output, wait, commit)));

command('rollback', 'Lists the versions to return to; with a version returns to it.')
  .argument('[version]', 'its id, or the beginning of it')
  .addOption(new Option('--env <environment>').choices(ENVIRONMENTS).default('production'))
  .option('--unfinished', 'end a release that was killed, if there is one')
  .action((version: string | undefined, options: commands.RollBack & { json?: true }) => {
    if (version && options.unfinished) program.error('error: --unfinished takes no version');
    return execute((output) => commands.rollBack(output, options, version))(options);
  });

command('status', 'Shows what both environments serve, and what is missing or unfinished.').action(
  execute(commands.showStatus),
);

command('smoke', 'Tests a store as a client. Its API key comes from SMOKE_API_KEY.')
  .addOption(environmentOption())
  .action(execute((output, { env }: { env: Environment }) => commands.smoke(output, env)));

await run(program);

function command(name: string, description: string) {
  const json = 'print the result as JSON, and the progress on standard error';
  return program.command(name).description(description).option('--json', json);
}

/**
 * Runs an action. Progress goes to standard output; with --json to standard error, and the result to standard
 * output. A failure is one line on standard error. After a signal, the action finishes first.
 */
function execute<Options>(action: (output: Output, options: Options) => Promise<object>) {
  return async (options: Options & { json?: true }): Promise<void> => {
    const controller = new AbortController();
    const stop = () => controller.abort();
    for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, stop);
    // When npm is stopped, the shell between npm and this process ends without a signal to it.
    const parent = process.ppid;
    setInterval(() => process.ppid === parent || stop(), 500).unref();
    try {
      const say = options.json ? console.error : console.log;
      const result = await action({ say, signal: controller.signal }, options);
      if (options.json) console.log(JSON.stringify({ ok: true, ...result }, null, 2));
    } catch (failure) {
      const error = oneLine(failure);
      if (options.json) console.log(JSON.stringify({ ok: false, error }, null, 2));
      throw failure;
    }
  };
}

function waitOption(seconds: number): Option {
  return new Option('--wait <seconds>', 'how long each share is tested')
    .default(seconds)
    .argParser((text) => {
      if (/^[0-9]{1,4}$/.test(text)) return Number(text);
      throw new InvalidArgumentError('It must be an integer from 0 to 9999.');
    });
}
