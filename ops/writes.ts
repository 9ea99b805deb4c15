/** `npm run writes`: stops and resumes writes to a store. */
import * as z from 'zod/mini';
import { confirm, createProgram, environmentOption, run } from './command-line.ts';
import type { Environment } from './key-namespace.ts';
import { type Execute, readWrites, resumeWrites, stopWrites } from './stopped-writes.ts';
import { runIn } from './wrangler.ts';

type Options = { env: Environment; yes?: boolean };

/** The output of `wrangler d1 execute --json`. */
const Output = z.array(
  z.object({ results: z.optional(z.array(z.object({ name: z.optional(z.string()) }))) }),
);

const YES_HELP = 'do not ask before changing production';

const program = createProgram(
  'npm run writes --',
  'Stops writes to a store, for example during a restore, and resumes them. Reads still work.',
);

program
  .command('stop')
  .description('Rejects all writes with 503 and Retry-After, everywhere and immediately.')
  .option('--yes', YES_HELP)
  .addOption(environmentOption())
  .action(async ({ env, yes }: Options) => {
    await confirm('stop writes', env, yes);
    await stopWrites(executeIn(env));
    console.log(`Writes to ${env} are stopped. A restore of the database to an earlier time resumes them, and so does:
  npm run writes -- resume --env ${env}`);
  });

program
  .command('resume')
  .description('Accepts writes again.')
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
    const state = await readWrites(executeIn(env));
    const fix = state === 'partly stopped' ? ' Run stop or resume again.' : '';
    console.log(`Writes to ${env} are ${state}.${fix}`);
  });

await run(program);

function executeIn(env: Environment): Execute {
  return async (sql) => {
    const output = await runIn(env, ['d1', 'execute', 'DB', '--json', '--command', sql]);
    const rows = Output.parse(JSON.parse(output)).flatMap(({ results = [] }) => results);
    return rows.flatMap(({ name }) => name ?? []);
  };
}
