/** `npm run release`: to staging, the same bytes to production, and back. See docs/operations.md. */
import { InvalidArgumentError, Option } from 'commander';
import { createProgram, run } from '../command-line.ts';
import { DIFFERENCES } from './checks.ts';
import { ENVIRONMENTS } from './cloudflare.ts';
import * as commands from './commands.ts';

const env = new Option('--env <environment>').choices(ENVIRONMENTS).makeOptionMandatory();
const yes = new Option('--yes', 'do not ask');
const allow = new Option('--allow <changes...>', 'wanted changes').choices(DIFFERENCES);
const commit = new Option('--commit <id>', 'refuse if staging serves another commit');
const hold = list('--hold <seconds>', 'how long a share is held').default([300]);
const shares = list('--shares <percent>', 'the shares before 100, such as 1,10').default([10]);
const force = new Option('--force', 'serve it even if it is not known to have passed its tests');

const DESCRIPTION = 'Releases to staging, promotes the same bytes to production, and rolls back.';
const program = createProgram('npm run release --', DESCRIPTION);
const controller = new AbortController();
const stop = () => controller.abort();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, stop);
// When npm is stopped, the shell between npm and this process ends without a signal to it.
const parent = process.ppid;
setInterval(() => process.ppid === parent || stop(), 500).unref();

command('first', 'Sets up an environment that has no worker.', commands.first, env, yes);
command('staging', 'Releases the commit that is checked out.', commands.staging, allow);
const about = 'Releases to production what staging serves.';
command('promote', about, commands.promote, commit, hold, shares, allow, yes);
const served = 'Serves a version to all again: an id, 8 or more characters of it, or "unfinished".';
command('rollback <version>', served, commands.rollback, env, force, yes);
command('smoke', 'Tests a store as a client, with SMOKE_API_KEY.', commands.smokeTest, env);
await run(program);

type Action = (options: commands.Options, version: string) => Promise<void>;
function command(name: string, description: string, action: Action, ...options: Option[]): void {
  const added = program.command(name).description(description);
  for (const option of options) added.addOption(option);
  const { signal } = controller;
  added.action(() => action({ ...added.opts<commands.Options>(), signal }, added.args[0] ?? ''));
}

function list(flags: string, description: string): Option {
  return new Option(flags, description).argParser((text) => {
    if (/^\d{1,5}(,\d{1,2})*$/.test(text)) return text.split(',').map(Number);
    throw new InvalidArgumentError('It must be an integer.');
  });
}
