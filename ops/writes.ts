/** `npm run writes`: stops writes to a store, for example during a restore, and resumes them. */
import { Argument } from 'commander';
import type { Environment } from './command-line.ts';
import { confirm, createProgram, environmentOption, run } from './command-line.ts';
import { readWrites, resumeWrites, stopWrites } from './stopped-writes.ts';
import { runIn } from './wrangler.ts';

const program = createProgram(
  'npm run writes --',
  'Stops and resumes writes to a store. While they are stopped, every write gets a 503 with Retry-After; reads still work.',
)
  .addArgument(new Argument('<stop|resume|status>').choices(['stop', 'resume', 'status']))
  .addOption(environmentOption)
  .option('--yes', 'do not ask before changing production')
  .action(async (action: string, { env, yes }: { env: Environment; yes?: boolean }) => {
    if (action !== 'status') await confirm(`${action} writes`, env, yes);
    const execute = async (sql: string) => {
      const output = await runIn(env, ['d1', 'execute', 'DB', '--json', '--command', sql]);
      const statements: { results: { name: string }[] }[] = JSON.parse(output);
      return statements.flatMap(({ results }) => results.map(({ name }) => name));
    };
    if (action === 'stop') await stopWrites(execute);
    if (action === 'resume') await resumeWrites(execute);
    const state = await readWrites(execute);
    console.log(`Writes to ${env} are ${state}.`);
    if (state !== 'accepted') console.log(`Accept them: npm run writes -- resume --env ${env}`);
  });

await run(program);
