/** `npm run release`: to staging, the same bytes to production, and back. See docs/operations.md. */
import { InvalidArgumentError, Option } from 'commander';
import { createProgram, environmentOption, oneLine, run } from './command-line.ts';
import { ENVIRONMENTS } from './release/cloudflare.ts';
import * as commands from './release/commands.ts';
import type { Output } from './release/rollout.ts';
import type { Environment } from './wrangler.ts';

const DESCRIPTION = 'Releases to staging, promotes the same bytes to production, and rolls back.';
const program = createProgram('npm run release --', DESCRIPTION);

type Wait = { wait: number; commit?: string };
command('staging', 'Builds the commit that is checked out, releases it to staging, and tests it.')
  .addOption(waitOption(0))
  .action(execute((output, { wait }: Wait) => commands.releaseToStaging(output, wait)));

command('promote', 'Promotes what staging serves: to 0, 10, 50 and 100 % of the requests.')
  .addOption(waitOption(60))
  .option('--commit <id>', 'refuse if staging serves another commit')
  .action(execute((output, { wait, commit }: Wait) => commands.promote(output, wait, commit)));

command('rollback', 'Lists the versions that can be restored; with a version, restores it.')
  .argument('[version]', 'its id, or the beginning of it')
  .addOption(new Option('--env <environment>').choices(ENVIRONMENTS).default('production'))
  .option('--unfinished', 'restore the settled version if a release is unfinished')
  .option('--commit <id>', 'with --unfinished: only if it is a release of this commit')
  .action((version: string | undefined, options: commands.RollBack & { json?: true }) => {
    if (version && options.unfinished) program.error('error: --unfinished takes no version');
    if (options.commit && !options.unfinished) program.error('error: --commit needs --unfinished');
    return execute((output) => commands.rollBack(output, options, version))(options);
  });

const status = command('status', 'Shows what both environments serve, and what is missing.');
status.action(execute(commands.showStatus));

command('smoke', 'Tests a store as a client. Its API key comes from SMOKE_API_KEY.')
  .addOption(environmentOption())
  .action(execute((output, { env }: { env: Environment }) => commands.smoke(output, env)));

await run(program);

function command(name: string, description: string) {
  const json = 'print the result as JSON, and the progress on standard error';
  return program.command(name).description(description).option('--json', json);
}

/** Runs an action, with one line for a failure on standard error. With --json, standard output has the result alone. */
function execute<Options>(action: (output: Output, options: Options) => Promise<object>) {
  return async (options: Options & { json?: true }): Promise<void> => {
    const say = options.json ? console.error : console.log;
    const controller = new AbortController();
    const stop = () => {
      if (controller.signal.aborted) return;
      say('Interrupted: staging and promote restore the settled version first; others finish.');
      controller.abort();
    };
    for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, stop);
    // When npm is stopped, the shell between npm and this process ends without a signal to it.
    const parent = process.ppid;
    setInterval(() => process.ppid === parent || stop(), 500).unref();
    try {
      const result = await action({ say, signal: controller.signal }, options);
      if (options.json) console.log(JSON.stringify({ ok: true, ...result }, null, 2));
    } catch (failure) {
      const result = { ok: false, error: oneLine(failure) };
      if (options.json) console.log(JSON.stringify(result, null, 2));
      throw failure;
    }
  };
}

function waitOption(seconds: number): Option {
  const parse = (text: string) => {
    if (/^[0-9]{1,4}$/.test(text)) return Number(text);
    throw new InvalidArgumentError('It must be an integer from 0 to 9999.');
  };
  return new Option('--wait <seconds>', 'how long each share is tested')
    .default(seconds)
    .argParser(parse);
}
