/** Shared by the commands: exit codes, error messages of one line, and confirmation before changes to production. */
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { Command, CommanderError, InvalidArgumentError, Option } from 'commander';

const ENVIRONMENTS = ['local', 'staging', 'production'] as const;
export type Environment = (typeof ENVIRONMENTS)[number];
/** An environment that is deployed to Cloudflare. */
export type DeployedEnvironment = Exclude<Environment, 'local'>;

/** A command that reports invalid arguments in one line on standard error. `run` sets the exit code. */
export function createProgram(name: string, description: string): Command {
  return new Command(name)
    .description(description)
    .exitOverride()
    .configureOutput({ outputError: (text, write) => write(`${safeMessage(text)}\n`) });
}

/** Runs the command, and sets the exit code unless it succeeds: 2 for arguments that commander rejects, 1 for any other failure. */
export async function run(program: Command, args = process.argv.slice(2)): Promise<void> {
  // A command goes on when nobody reads its output any more, for example after the terminal was closed.
  // One listener is enough: tests call `run` several times.
  for (const stream of [process.stdout, process.stderr])
    if (stream.listenerCount('error') === 0) stream.on('error', () => {});
  try {
    await program.parseAsync(args, { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) reportFailure(error);
    else if (error.exitCode !== 0) process.exitCode = 2;
  }
}

/** Prints an error in one line. The command may go on, and its exit code is 1. */
export function reportFailure(error: unknown): void {
  console.error(`error: ${safeMessage(error)}`);
  process.exitCode = 1;
}

/** An API key. Messages quote arguments, and a person may have passed a key in place of an id. */
const API_KEY = /animal_[a-z]+_\w{20,}/g;

/** Environment variables whose values wrangler or `fetch` quotes in some errors, for example a token with a line break. */
const SECRETS = ['CLOUDFLARE_API_TOKEN', 'CLOUDFLARE_API_KEY', 'SMOKE_API_KEY'];

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

/** A text without the characters that a terminal carries out or does not show: controls, formats and line separators. */
export function visible(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '\uFFFD');
}

/** Returns the parser of an option's value: an integer of decimal digits within the range. */
export function integerFrom(minimum: number, maximum: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (/^[0-9]+$/.test(text) && value >= minimum && value <= maximum) return value;
    throw new InvalidArgumentError(`It must be an integer from ${minimum} to ${maximum}.`);
  };
}

export const yesOption = new Option('--yes', 'do not ask for confirmation');

export const environmentOption = new Option('--env <environment>', 'the environment of the store')
  .choices(ENVIRONMENTS)
  .default('local');

/**
 * Asks for confirmation before a change to production, unless `yes`. The answer is no when the terminal is closed, or
 * `signal` is aborted, as after Ctrl-C.
 *
 * @throws Error when the answer is no, standard input is not a terminal, or `signal` is aborted already.
 */
export async function confirm(
  what: string,
  environment: Environment,
  yes = false,
  signal?: AbortSignal,
): Promise<void> {
  signal?.throwIfAborted();
  if (yes || environment !== 'production') return;
  const action = `${what} in PRODUCTION`;
  if (!process.stdin.isTTY)
    throw new Error(`confirmation required: add --yes to ${action} without a terminal`);
  await dropTypedInput();
  const answer = await readLine(`This will ${action}. Continue? [y/N]`, signal);
  if (!/^y(es)?$/i.test(answer.trim())) throw new Error('cancelled');
}

/** Drops what was typed before a question, so that it does not count as the answer. */
async function dropTypedInput() {
  process.stdin.resume();
  await pause(100);
  process.stdin.pause();
}

/** Reads a line of standard input, on a terminal after a question. It is empty if the terminal is closed instead. */
export async function readLine(question: string, signal?: AbortSignal): Promise<string> {
  if (process.stdin.isTTY) console.error(question);
  // Not with readline's `question`: if the terminal is closed, it throws outside of this function, or waits for ever.
  const lines = createInterface({ input: process.stdin, ...(signal && { signal }) });
  const { value } = await lines[Symbol.asyncIterator]().next();
  // Otherwise the process would go on reading, and not end.
  lines.close();
  return value ?? '';
}

/** Calls back when the user, the system or npm stops this process. */
export function onStop(stop: () => void): void {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, stop);
  // npm starts this process in a shell. When npm is stopped, the shell ends without passing the signal on, and
  // this process gets another parent.
  const shell = process.ppid;
  const watch = setInterval(() => {
    if (process.ppid === shell) return;
    clearInterval(watch);
    stop();
  }, 500).unref();
}
