/** `npm run release`: to staging, the same bytes to production, and back. See docs/operations.md. */
import { InvalidArgumentError, Option } from 'commander';
import { createProgram, run } from '../command-line.ts';
import { DIFFERENCES } from './checks.ts';
import { ENVIRONMENTS } from './cloudflare.ts';
import * as commands from './commands.ts';

const OPTIONS = {
  env: new Option('--env <environment>').choices(ENVIRONMENTS).makeOptionMandatory(),
  yes: new Option('--yes', 'do not ask'),
  allow: new Option('--allow <changes...>', 'changes that are wanted').choices(DIFFERENCES),
  commit: new Option('--commit <id>', 'refuse if staging serves another commit'),
  hold: new Option('--hold <seconds>', 'how long a share is held')
    .argParser(parseList)
    .default([300]),
  shares: new Option('--shares <percent>', 'before 100').argParser(parseList).default([10]),
  force: new Option('--force', 'serve it even if it is not known to have passed its tests'),
};
const DESCRIPTION = 'Releases to staging, promotes the same bytes to production, and rolls back.';
const program = createProgram('npm run release --', DESCRIPTION);
const controller = new AbortController();

command('first', 'Sets up an environment that has no worker.', ['env', 'yes'], commands.first);
command('staging', 'Releases the commit that is checked out.', ['allow'], commands.staging);
command(
  'promote',
  'Releases to production what staging serves.',
  ['commit', 'hold', 'shares', 'allow', 'yes'],
  commands.promote,
);
command(
  'rollback <version>',
  'Serves a version to all again: its id, or at least 8 characters of it.',
  ['env', 'force', 'yes'],
  commands.rollback,
);
command('smoke', 'Tests a store as a client, with SMOKE_API_KEY.', ['env'], commands.smokeTest);

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
  process.on(signal, () => controller.abort());
// When npm is stopped, the shell between npm and this process ends without a signal to it.
const parent = process.ppid;
setInterval(() => process.ppid === parent || controller.abort(), 500).unref();
await run(program);

type Action = (options: commands.Options, version: string) => Promise<void>;
function command(name: string, about: string, options: (keyof typeof OPTIONS)[], action: Action) {
  const added = program.command(name).description(about);
  for (const option of options) added.addOption(OPTIONS[option]);
  const { signal } = controller;
  added.action(() => action({ ...added.opts<commands.Options>(), signal }, added.args[0] ?? ''));
}

function parseList(text: string): number[] {
  if (/^\d{1,5}(,\d{1,2})*$/.test(text)) return text.split(',').map(Number);
  throw new InvalidArgumentError('It must be an integer.');
}
