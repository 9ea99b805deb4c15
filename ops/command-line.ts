/** What our commands have in common: exit codes, one clear line for an error, asking before production. */
import { createInterface } from 'node:readline/promises';
import { Command, CommanderError, Option } from 'commander';
import type { Environment } from './key-namespace.ts';

/** A command whose wrong arguments make one line on standard error and the exit code 2. */
export function createProgram(name: string, description: string): Command {
  return new Command(name)
    .description(description)
    .exitOverride()
    .configureOutput({
      outputError: (text, write) => write(`${text.trim().replaceAll(/\s*\n\s*/g, ' ')}\n`),
    });
}

/** Runs the command that this process's arguments name, and sets the exit code. */
export async function run(program: Command): Promise<void> {
  process.exitCode = await runCommand(program, process.argv.slice(2));
}

/** Runs the command that the arguments name. Returns the exit code: 0, 2 for wrong arguments, 1 for a failure. */
export async function runCommand(program: Command, args: string[]): Promise<number> {
  try {
    const commands = program.commands.map((command) => command.name()).join(', ');
    if (args.length === 0) program.error(`error: name a command (${commands}), or --help`);
    await program.parseAsync(args, { from: 'user' });
    return 0;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    console.error(`error: ${error instanceof Error ? error.message : error}`);
    return 1;
  }
}

export function environmentOption(): Option {
  return new Option('--env <environment>', 'which store')
    .choices(['local', 'staging', 'production'])
    .default('local');
}

/**
 * Asks before something is done to production, unless `yes`.
 *
 * @throws Error when the answer is no, or there is nobody to ask.
 */
export async function confirm(what: string, environment: Environment, yes = false): Promise<void> {
  if (environment !== 'production' || yes) return;
  if (!process.stdin.isTTY)
    throw new Error(`to ${what} in production without being asked, add --yes`);
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  const answer = await terminal.question(`This will ${what} in PRODUCTION. Go on? [y/N] `);
  terminal.close();
  if (!/^y(es)?$/i.test(answer.trim())) throw new Error('nothing was done');
}
