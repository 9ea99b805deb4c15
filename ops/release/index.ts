/** `npm run release`: to staging, the same bytes to production, and back. See docs/operations.md. */
import { Option } from 'commander';
import { createProgram, integerFrom, run } from '../command-line.ts';
import * as commands from './commands.ts';
import { DIFFERENCES } from './rollout.ts';

const env = new Option('--env <environment>')
  .choices(['staging', 'production'])
  .makeOptionMandatory();
const yes = new Option('--yes', 'do not ask');
const allow = new Option('--allow <changes...>', 'wanted changes').choices(DIFFERENCES);
const commit = new Option('--commit <id>', 'refuse if staging serves another commit');
const hold = new Option('--hold <seconds>', 'how long a share is held').default(300);
const shares = new Option('--shares <percent>', 'before 100, such as 1,10').default([10]);
const force = new Option('--force', 'serve it even if it is not known to have passed its tests');
hold.argParser(integerFrom(0, 86_400));
shares.argParser((text) => text.split(',').map(integerFrom(1, 99)));

const program = createProgram('npm run release --', 'Releases, promotes and rolls back the store.');
const stop = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
  process.on(signal, () => stop.abort());
// When npm is stopped, the shell between npm and this process ends without a signal to it.
const parent = process.ppid;
setInterval(() => process.ppid === parent || stop.abort(), 500).unref();

command('first', 'Sets up an environment that has no worker.', commands.first, env, yes);
command('staging', 'Releases the commit that is checked out.', commands.staging, allow);
const promotion = 'Releases to production what staging serves.';
command('promote', promotion, commands.promote, commit, hold, shares, allow, yes);
const version = 'Serves a version to all again: 8 or more characters of its id, or "unfinished".';
command('rollback <version>', version, commands.rollback, env, force, yes);
command('smoke', 'Tests a store as a client, with SMOKE_API_KEY.', commands.smokeTest, env);
await run(program);

type Action = (options: commands.Options, version: string) => Promise<void>;
function command(name: string, description: string, action: Action, ...options: Option[]): void {
  const added = program.command(name).description(description);
  for (const option of options) added.addOption(option);
  const { signal } = stop;
  added.action(() => action({ ...added.opts<commands.Options>(), signal }, added.args[0] ?? ''));
}
