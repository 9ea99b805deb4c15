/** What the commands share: exit codes, error messages of one line, options and questions. */
import { createInterface } from 'node:readline';
import { Command, CommanderError, Option } from 'commander';

const ENVIRONMENTS = ['local', 'staging', 'production'] as const;
export type Environment = (typeof ENVIRONMENTS)[number];
/** An environment that is deployed to Cloudflare. */
export type DeployedEnvironment = Exclude<Environment, 'local'>;

/** A command that prints each error in one line on standard error. `run` sets the exit code. */
export function createProgram(name: string, description: string): Command {
  return new Command(name)
    .description(description)
    .exitOverride()
    .configureOutput({ outputError: (text, write) => write(`${safeMessage(text)}\n`) });
}

/**
 * Runs a command. If it fails, sets the exit code: 2 for arguments that commander rejects, 1 for
 * any other failure.
 */
export async function run(program: Command, args = process.argv.slice(2)): Promise<void> {
  // Without a listener, a failed write to a closed terminal would end the command. One is enough,
  // even if tests call `run` several times. Lost output, such as a new key on a full disk, is a
  // failure.
  if (process.stdout.listenerCount('error') === 0) {
    process.stdout.on('error', reportFailure);
    process.stderr.on('error', () => {});
  }
  try {
    await program.parseAsync(args, { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) reportFailure(error);
    else if (error.exitCode !== 0) process.exitCode = 2;
  }
}

/** Prints an error in one line, and sets the exit code 1. The command may go on. */
export function reportFailure(error: unknown): void {
  console.error(`error: ${safeMessage(error)}`);
  process.exitCode = 1;
}

/** An API key. Messages quote arguments, and a person may have passed a key in place of an id. */
export const API_KEY = /animal_[a-z]+_\w{20,}/g;

/**
 * Environment variables whose values wrangler or `fetch` quotes in some errors, for example a token
 * with a line break.
 */
const SECRETS = [
  'CLOUDFLARE_API_TOKEN',
  'CLOUDFLARE_API_KEY',
  'CF_API_TOKEN',
  'CF_API_KEY',
  'SMOKE_API_KEY',
];

/** The message of an error, in one line, without API keys, tokens and control characters. */
export function safeMessage(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  let line = withoutBreaks(message).replaceAll(API_KEY, 'animal_…');
  for (const name of SECRETS) {
    const secret = withoutBreaks(process.env[name] ?? '');
    if (secret) line = line.replaceAll(secret, '…');
  }
  return line;
}

function withoutBreaks(text: string): string {
  return text.replaceAll(/[\s\p{Cc}]+/gu, ' ').trim();
}

/**
 * Replaces control and format characters, and line and paragraph separators: a terminal obeys or
 * hides them.
 */
export function visible(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '\uFFFD');
}

export const yesOption = new Option('--yes', 'do not ask for confirmation');

export const environmentOption = new Option('--env <environment>', 'the environment of the store')
  .choices(ENVIRONMENTS)
  .default('local');

/**
 * Asks for confirmation before a change to production, unless `yes`. If the terminal is
 * closed, the answer is no.
 *
 * @throws Error without a confirmation, or without a terminal.
 */
export async function confirm(
  change: string,
  environment: Environment,
  yes = false,
): Promise<void> {
  if (yes || environment !== 'production') return;
  const action = `${change} in PRODUCTION`;
  if (!process.stdin.isTTY)
    throw new Error(`confirmation required: add --yes to ${action} without a terminal`);
  const answer = await readLine(`This will ${action}. Continue? [y/N]`);
  if (!/^y(es)?$/i.test(answer.trim())) throw new Error('cancelled');
}

/**
 * Reads a line of standard input. On a terminal, it prints the question first. The line is empty if
 * the input ends without one.
 */
export async function readLine(question: string): Promise<string> {
  if (process.stdin.isTTY) console.error(question);
  // Not with readline's `question`, which throws outside of this function or waits for ever if the
  // terminal is closed.
  const lines = createInterface({ input: process.stdin });
  const { value } = await lines[Symbol.asyncIterator]().next();
  // Otherwise the process would keep reading, and never end.
  lines.close();
  return value ?? '';
}
