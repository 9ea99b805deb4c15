/** `npm run release`: from staging to production, the same bytes, and back. See docs/operations.md. */
import { InvalidArgumentError, Option } from 'commander';
import { createProgram, run } from './command-line.ts';
import type { Environment } from './key-namespace.ts';
import { promote } from './release/promote.ts';
import { LOCATIONS } from './release/resources.ts';
import { rollback, rollbackUnfinished } from './release/rollback.ts';
import { setup } from './release/setup.ts';
import { smoke } from './release/smoke-command.ts';
import { releaseToStaging } from './release/staging.ts';
import { status } from './release/status.ts';
import { type Command, runCommand } from './release/steps.ts';
import { ENVIRONMENTS, type EnvironmentName } from './release/target.ts';

type Options = { dryRun?: boolean; json?: boolean };

const PROBES = { least: 10, most: 1000, default: 100 };

const program = createProgram(
  'npm run release --',
  'Releases to staging, promotes the same bytes to production, and rolls back.',
);

command('setup', 'Creates what an environment needs at Cloudflare, and names what is left to do.')
  .addOption(environment().makeOptionMandatory())
  .requiredOption('--account <id>', 'the account at Cloudflare', accountArgument)
  .addOption(new Option('--location <hint>', 'where most writers are').choices(LOCATIONS))
  .action((options: Options & { env: EnvironmentName; account: string; location?: string }) =>
    execute(options, (steps) => setup(steps, options.env, options.account, options.location)),
  );

command('staging', 'Builds what is committed, releases it to staging, and proves it there.').action(
  (options: Options) => execute(options, releaseToStaging),
);

command('promote', 'Gives production what staging has proved, step by step, or returns.')
  .addOption(
    new Option('--probes <count>', 'how many clients look at production at each step')
      .default(PROBES.default)
      .argParser(probesArgument),
  )
  .action((options: Options & { probes: number }) =>
    execute(options, (steps) => promote(steps, options.probes)),
  );

command('rollback', 'Lists what can be returned to; with a version returns to that.')
  .argument('[version]', 'the version, or the beginning of its name')
  .addOption(environment().default('production'))
  .option('--unfinished', 'return from a promotion that was killed, if one was')
  .action(
    (
      version: string | undefined,
      options: Options & { env: EnvironmentName; unfinished?: boolean },
    ) => {
      if (version && options.unfinished) program.error('error: --unfinished takes no version');
      return execute(options, (steps) =>
        options.unfinished
          ? rollbackUnfinished(steps, options.env)
          : rollback(steps, options.env, version),
      );
    },
  );

command('status', 'Shows what both environments serve, and whether production is behind.').action(
  (options: Options) => execute(options, status),
);

command('smoke', 'Looks at a store as a client does. Its API key comes from SMOKE_API_KEY.')
  .addOption(
    new Option('--env <environment>', 'which store')
      .choices(['local', ...ENVIRONMENTS])
      .default('local'),
  )
  .option('--url <address>', 'where it is, if not at its base address', urlArgument)
  .action((options: Options & { env: Environment; url?: URL }) =>
    execute(options, (steps) => smoke(steps, options.env, options.url)),
  );

await run(program);

function command(name: string, description: string) {
  return program
    .command(name)
    .description(description)
    .option('--dry-run', 'only say what would be done')
    .option('--json', 'print the result as JSON, and the steps on standard error');
}

function environment(): Option {
  return new Option('--env <environment>', 'which environment').choices(ENVIRONMENTS);
}

async function execute(options: Options, action: Command<object>): Promise<void> {
  await runCommand(action, options);
}

function accountArgument(text: string): string {
  if (/^[0-9A-Za-z_-]{1,64}$/.test(text)) return text;
  throw new InvalidArgumentError('It is an id without spaces: npx wrangler whoami lists them.');
}

function probesArgument(text: string): number {
  const count = Number(text);
  if (/^[0-9]+$/.test(text) && count >= PROBES.least && count <= PROBES.most) return count;
  throw new InvalidArgumentError(`It is a number from ${PROBES.least} to ${PROBES.most}.`);
}

function urlArgument(text: string): URL {
  const url = URL.parse(text);
  if (url && /^https?:$/.test(url.protocol) && /^\/(v1\/?)?$/.test(url.pathname) && !url.search)
    return url;
  throw new InvalidArgumentError('It is an address such as http://localhost:8787.');
}
