/** Runs wrangler for the commands, in the same way on every platform and without extra output. */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { devNull } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { stripVTControlCharacters } from 'node:util';
import type { Unstable_Config } from 'wrangler';
import wranglerPackage from 'wrangler/package.json' with { type: 'json' };
import { type DeployedEnvironment, type Environment, safeMessage } from './command-line.ts';
import { PROJECT_ROOT } from './project-root.ts';

/** Wrangler's command. It starts a second process, and passes SIGTERM on to it, but not SIGKILL. */
const BIN = join(PROJECT_ROOT, 'node_modules/wrangler', wranglerPackage.bin.wrangler);

/**
 * Variables that make wrangler start faster, and turn off its extra output, its metrics and a
 * download.
 */
const WRANGLER_ENV = {
  // Wrangler is one file of 15 MB. A compile cache saves about a quarter of its start-up time.
  NODE_COMPILE_CACHE: join(PROJECT_ROOT, 'node_modules/.cache/node-compile'),
  WRANGLER_HIDE_BANNER: 'true',
  WRANGLER_SEND_METRICS: 'false',
  // Otherwise wrangler fetches a sample of `request.cf` from the network.
  CLOUDFLARE_CF_FETCH_ENABLED: 'false',
};

/**
 * A full or read-only disk has the errors of a damaged store. `npm run reset` would delete the
 * animals, and not help.
 */
const LOCAL_HINT =
  ' (Is the disk full or read-only, or has migrations/ a copy of a file? If not, the local store may be damaged: npm run reset empties it)';

/** `runWranglerIn` ends wrangler after this time. */
const LIMIT_MS = 300_000;

type Options = {
  /** The folder of wrangler.toml. Default: this project. */
  cwd?: string;
  /** Further variables. */
  env?: Record<string, string>;
};

/**
 * Otherwise wrangler would prefer a wrangler.json, even of a folder above this one, and read .env:
 * both could name another worker.
 */
function argumentsOf(environment: Environment, args: string[]) {
  // Always, because without it wrangler acts on the environment that the user's CLOUDFLARE_ENV
  // names. The empty name selects the top level of wrangler.toml.
  const env = environment === 'local' ? '' : environment;
  return [BIN, ...args, '--env', env, '--config', 'wrangler.toml', '--env-file', devNull];
}

/** A quieter level, set by the user, would suppress output that the commands read. */
function variables() {
  return { ...process.env, ...WRANGLER_ENV, WRANGLER_LOG: 'log' };
}

/**
 * Runs wrangler on an environment, without a terminal and for at most five minutes. Returns its
 * standard output.
 *
 * @throws Error with all that wrangler printed unless the exit code is 0, and a hint if the local
 * store may be damaged.
 */
export async function runWranglerIn(
  environment: Environment,
  args: string[],
  { cwd = PROJECT_ROOT, env }: Options = {},
): Promise<string> {
  const child = spawn(process.execPath, argumentsOf(environment, args), {
    cwd,
    timeout: LIMIT_MS,
    env: { ...variables(), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    windowsHide: true,
  });
  const [[code, signal], stdout, stderr] = await Promise.all([
    // `once` rejects if wrangler cannot be started.
    once(child, 'close'),
    text(child.stdout),
    text(child.stderr),
  ]);
  if (code === 0) return stdout;
  // After the limit, Node.js has ended wrangler.
  if (child.killed) throw new Error('wrangler: it did not end within five minutes');
  const problem = signal ?? safeMessage(stripVTControlCharacters(stderr + stdout));
  throw new Error(`wrangler: ${problem}${args.includes('--local') ? LOCAL_HINT : ''}`);
}

/** Whether somebody can answer wrangler's questions. */
export function hasTerminal(): boolean {
  return process.stdin.isTTY && process.stdout.isTTY;
}

/**
 * Runs wrangler on the terminal, if there is one. Without one, wrangler takes each answer to be
 * yes.
 */
export function askWranglerIn(environment: DeployedEnvironment, args: string[]) {
  execFileSync(process.execPath, argumentsOf(environment, args), {
    cwd: PROJECT_ROOT,
    // With a variable of a CI, wrangler would not ask on a terminal either.
    env: { ...variables(), CI: 'false' },
    stdio: 'inherit',
  });
}

/** @throws Error if wrangler.toml still has a placeholder of the environment. */
export function requireSetUp(environment: DeployedEnvironment) {
  const config = readFileSync(join(PROJECT_ROOT, 'wrangler.toml'), 'utf8');
  if (new RegExp(`"${environment}-[a-z-]+-id"`).test(config))
    throw new Error(`${environment} is not set up. See docs/set-up.md`);
}

/**
 * Reads the settings of an environment from wrangler.toml. `unstable_`, here, in `bench/` and in
 * tests, is experimental: any version of wrangler may change it.
 */
export async function readConfig(env: DeployedEnvironment): Promise<Unstable_Config> {
  // Imported only here, because loading wrangler would delay `--help` and the errors of arguments.
  const { unstable_readConfig } = await import('wrangler');
  return unstable_readConfig({ config: join(PROJECT_ROOT, 'wrangler.toml'), env });
}
