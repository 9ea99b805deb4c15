/** Running wrangler from our commands: the same way on every platform, without its noise. */
import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import type { Environment } from './key-namespace.ts';

// It selects the environment wherever a command of wrangler's names none: `wrangler deploy` would deploy to it, and
// what we run on the local store would read its ids. Every command of ours loads this module before it acts.
if (process.env.CLOUDFLARE_ENV) {
  console.error(
    `error: CLOUDFLARE_ENV is set (to ${JSON.stringify(process.env.CLOUDFLARE_ENV)}): unset it, and name the environment with --env`,
  );
  process.exit(2);
}

export const PROJECT_ROOT = dirname(import.meta.dirname);

/** The top level of wrangler.toml, whatever `CLOUDFLARE_ENV` in a .env file says: wrangler reads that, too. */
export const LOCAL = ['--env', ''];

/** Not wrangler's bin, which runs this as a second process, and leaves it behind when it is killed. */
const CLI = join(PROJECT_ROOT, 'node_modules/wrangler/wrangler-dist/cli.js');

/** Wrangler is one file of 15 MB: kept compiled, it starts in half the time. */
const COMPILED = join(PROJECT_ROOT, 'node_modules/.cache/node-compile');

/** Where wrangler keeps the local store. */
export const LOCAL_FOLDER = join(PROJECT_ROOT, '.wrangler');

/** Without wrangler's noise. */
export const WRANGLER_ENV = {
  NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? COMPILED,
  WRANGLER_HIDE_BANNER: 'true',
  WRANGLER_SEND_METRICS: 'false',
  // `request.cf` is made up locally either way; asking for a sample of it needs the network.
  CLOUDFLARE_CF_FETCH_ENABLED: 'false',
};

type Options = Omit<SpawnOptions, 'env'> & { env?: Record<string, string> };

/** Starts wrangler in the project's folder; `env` is added to the environment. */
export function spawnWrangler(args: string[], options: Options = {}): ChildProcess {
  return spawn(process.execPath, ['--no-warnings', CLI, ...args], {
    cwd: PROJECT_ROOT,
    ...options,
    env: { ...process.env, ...options.env, ...WRANGLER_ENV },
  });
}

/**
 * Runs wrangler to its end without asking anything, and returns its standard output.
 *
 * @throws Error with what wrangler says went wrong, when its exit code is not 0.
 */
export function runWrangler(args: string[], options: Options = {}): Promise<string> {
  return new Promise((resolve, reject) => {
    // A user's quieter level would also silence the output that is read here.
    const env = { ...options.env, WRANGLER_LOG: 'log' };
    const child = spawnWrangler(args, { ...options, env, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    let errors = '';
    child.stdout?.on('data', (chunk) => (output += chunk));
    child.stderr?.on('data', (chunk) => (errors += chunk));
    child.on('error', reject);
    child.on('close', (code, signal) => {
      if (code === 0) resolve(output);
      else if (signal) reject(new Error(`wrangler ${args.slice(0, 2).join(' ')}: ${signal}`));
      else reject(new Error(`wrangler: ${complaint([errors, output])}`));
    });
  });
}

/** An error of the local store, with its fix. */
export function localStoreError(cause: unknown): Error {
  const message = cause instanceof Error ? cause.message : cause;
  return new Error(`${message} (If the local store is damaged, empty it: npm run reset)`, {
    cause,
  });
}

/**
 * Runs wrangler on the resources of an environment, as `runWrangler`.
 *
 * @throws Error that names the fix, where the environment is not set up or the local store is damaged.
 */
export async function runIn(environment: Environment, args: string[]): Promise<string> {
  const where =
    environment === 'local' ? ['--local', ...LOCAL] : ['--remote', '--env', environment];
  try {
    return await runWrangler([...args, ...where]);
  } catch (cause) {
    if (environment === 'local') throw localStoreError(cause);
    const config = readFileSync(join(PROJECT_ROOT, 'wrangler.toml'), 'utf8');
    if (!new RegExp(`"${environment}-(?:account|database|api-keys)-id"`).test(config)) throw cause;
    const said = cause instanceof Error ? cause.message : cause;
    const message = `${environment} is not set up: wrangler.toml has placeholders instead of its ids. See "First set-up" in docs/operations.md. (${said})`;
    throw new Error(message, { cause });
  }
}

/** From an error's heading to what wrangler says below every error. */
const ERROR = /\[ERROR\]([\s\S]*?)(?:If you think this is a bug|🪵|[✘▲] \[|$)/;

/** What wrangler's output says went wrong, as one line; else all of it. */
function complaint(outputs: string[]): string {
  const plain = outputs.map(stripVTControlCharacters);
  const error = plain.map((output) => ERROR.exec(output)?.[1]).find(Boolean);
  return withoutTokens((error ?? plain.join(' ')).replaceAll(/\s+/g, ' ').trim());
}

/** A token that is no valid header is quoted in the error about it. */
function withoutTokens(text: string): string {
  const tokens = ['CLOUDFLARE_API_TOKEN', 'CLOUDFLARE_STAGING_API_TOKEN', 'CLOUDFLARE_API_KEY']
    .map((name) => process.env[name]?.replaceAll(/\s+/g, ' ').trim())
    .filter((token) => token);
  return tokens.reduce<string>((rest, token) => rest.replaceAll(token ?? '', '…'), text);
}
