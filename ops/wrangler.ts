/** Running wrangler from our commands: the same way on every platform, without its noise. */
import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { dirname, join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';

export const PROJECT_ROOT = dirname(import.meta.dirname);

const BIN = join(PROJECT_ROOT, 'node_modules/wrangler/bin/wrangler.js');

/** Starts wrangler in the project's folder. */
export function spawnWrangler(args: string[], options: SpawnOptions = {}): ChildProcess {
  return spawn(process.execPath, [BIN, ...args], {
    cwd: PROJECT_ROOT,
    ...options,
    env: {
      ...process.env,
      WRANGLER_HIDE_BANNER: 'true',
      WRANGLER_SEND_METRICS: 'false',
      // `request.cf` is made up locally either way; asking for a sample of it needs the network.
      CLOUDFLARE_CF_FETCH_ENABLED: 'false',
    },
  });
}

/**
 * Runs wrangler to its end without asking anything, and returns its standard output.
 *
 * @throws Error with what wrangler says went wrong, when its exit code is not 0.
 */
export function runWrangler(args: string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawnWrangler(args, { stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    let errors = '';
    child.stdout?.on('data', (chunk) => (output += chunk));
    child.stderr?.on('data', (chunk) => (errors += chunk));
    child.on('error', reject);
    child.on('close', (code) => {
      if (code === 0) resolve(output);
      else reject(new Error(`wrangler: ${complaint(`${errors}\n${output}`)}`));
    });
  });
}

/** The paragraph of wrangler's output that says what went wrong, as one line; else all of it. */
function complaint(output: string): string {
  const plain = stripVTControlCharacters(output);
  const paragraph = /\[ERROR\]((?:.|\n)*?)\n(?:\s*\n){2}/.exec(`${plain}\n\n\n`)?.[1] ?? plain;
  return paragraph.replaceAll(/\s+/g, ' ').trim();
}
