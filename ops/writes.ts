/** `npm run writes`: stops and resumes the changes of a store. */
import * as z from 'zod/mini';
import { confirm, createProgram, environmentOption, run } from './command-line.ts';
import type { Environment } from './key-namespace.ts';
import { areWritesStopped, type Execute, resumeWrites, stopWrites } from './stopped-writes.ts';
import { runIn } from './wrangler.ts';

type Options = { env: Environment; yes?: boolean };

/** What `wrangler d1 execute --json` prints. */
const Output = z.array(
  z.object({ results: z.optional(z.array(z.object({ name: z.optional(z.string()) }))) }),
);

const YES_HELP = 'do not ask before changing production';

const program = createProgram(
  'npm run writes --',
  'Stops the changes of a store, to restore its data, and resumes them. Reads go on.',
);

program
  .command('stop')
  .description('Rejects every change with 503 and Retry-After, at once and everywhere.')
  .option('--yes', YES_HELP)
  .addOption(environmentOption())
  .action(async ({ env, yes }: Options) => {
    await confirm('stop writes', env, yes);
    await stopWrites(executeIn(env));
    console.log(`Writes to ${env} are stopped, until its database is restored to an earlier time, or:
  npm run writes -- resume --env ${env}`);
  });

program
  .command('resume')
  .description('Accepts changes again.')
  .option('--yes', YES_HELP)
  .addOption(environmentOption())
  .action(async ({ env, yes }: Options) => {
    await confirm('resume writes', env, yes);
    await resumeWrites(executeIn(env));
    console.log(`Writes to ${env} are accepted.`);
  });

program
  .command('status')
  .description('Shows whether writes are stopped.')
  .addOption(environmentOption())
  .action(async ({ env }: Options) => {
    const stopped = await areWritesStopped(executeIn(env));
    console.log(`Writes to ${env} are ${stopped ? 'stopped' : 'accepted'}.`);
  });

await run(program);

function executeIn(env: Environment): Execute {
  return async (sql) => {
    const output = await runIn(env, ['d1', 'execute', 'DB', '--json', '--command', sql]);
    const rows = Output.parse(JSON.parse(output)).flatMap(({ results = [] }) => results);
    return rows.flatMap(({ name }) => name ?? []);
  };
}
