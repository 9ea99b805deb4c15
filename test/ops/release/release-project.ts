/** A copy of the project, committed and configured for a fake Cloudflare, to release from. */
import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect } from 'vitest';
import { WRANGLER_ENV } from '../../../ops/wrangler.ts';
import { generateKey } from '../../../src/auth/key-format.ts';
import { putRecord } from '../../store.ts';
import { type Cloudflare, startCloudflare } from '../cloudflare/index.ts';
import type { Worker } from '../cloudflare/workers.ts';
import { copyProject, type Running } from '../project.ts';

export const STAGING = 'animal-store-staging';
/** What wrangler.toml has instead of ids. */
const PLACEHOLDERS = /(staging|production)-(account|database|api-keys)-id/g;
const KEYS = { staging: generateKey('staging'), production: generateKey('production') };

export function releaseProject() {
  const project = copyProject();
  let cloudflare: Cloudflare;
  const path = (name: string) => join(project.path(), name);

  async function git(...args: string[]): Promise<string> {
    const identity = ['-c', 'user.name=Test', '-c', 'user.email=test@animals.test'];
    const options = { cwd: project.path() };
    return (await promisify(execFile)('git', [...identity, ...args], options)).stdout.trim();
  }

  async function commit(name: string, change: (text: string) => string): Promise<void> {
    await writeFile(path(name), change(await readFile(path(name), 'utf8').catch(() => '')));
    await git('add', '--all');
    await git('commit', '--quiet', '--message', `Change ${name}`);
  }

  /** The calls that changed something, without where. */
  const changes = () =>
    cloudflare.calls
      .filter((call) => !/^(GET|PATCH) |assets|changeset|query (SELECT|CREATE TABLE IF)/.test(call))
      .map((call) => call.replace(/\/accounts\/[^/]+\/[^/]+\/[^/]+\/[^/ ]+\/?/, ''));

  /** Starts `npm run release -- <args>`. */
  function start(args: string[], env: Record<string, string> = {}): Running {
    const preload = JSON.stringify(join(import.meta.dirname, 'preload.cjs'));
    return project.start('release/index.ts', args, {
      ...cloudflare.env,
      FAKE_PORT: String(cloudflare.port),
      // Not --import, whose loader takes a tenth of wrangler's start.
      NODE_OPTIONS: `--require=${preload}`,
      SMOKE_API_KEY: args.join().includes('staging') ? KEYS.staging : KEYS.production,
      WRANGLER_LOG_PATH: path('.wrangler/logs'),
      NODE_COMPILE_CACHE: WRANGLER_ENV.NODE_COMPILE_CACHE,
      ...env,
    });
  }

  async function release(...args: string[]): Promise<string> {
    const { exited, stdout, stderr } = start(args);
    expect(await exited, `${stdout()}${stderr()}`).toBe(0);
    return stdout();
  }

  /** Runs it, and expects it to fail with one clear line, and to have made only some changes. Returns its output. */
  async function refused(args: string[], made: unknown = [], env?: Record<string, string>) {
    const before = changes().length;
    const { exited, stdout, stderr } = start(args, env);
    expect(await exited, `${stdout()}${stderr()}`).toBe(1);
    expect(stderr()).toMatch(/^error: [^\n]*\n$/);
    expect(changes().slice(before)).toEqual(made);
    return stdout() + stderr();
  }

  async function storeKey(environment: keyof typeof KEYS, scopes: string[]): Promise<void> {
    const namespace = await cloudflare.namespace(`api-keys-of-${environment}`);
    await putRecord(namespace, KEYS[environment], { id: 'smoke', scopes });
  }

  beforeAll(async () => {
    cloudflare = await startCloudflare();
    await storeKey('staging', ['read', 'write']);
    await storeKey('production', ['read']);
    await writeFile(path('.gitignore'), 'node_modules\ndist/\n.wrangler/\n');
    await git('init', '--quiet');
    await commit('wrangler.toml', (text) =>
      text.replaceAll('animal-store.example', 'animals.test').replace(PLACEHOLDERS, '$2-of-$1'),
    );
  });
  afterAll(() => cloudflare.close());

  return {
    ...{ git, commit, start, release, refused },
    cloudflare: () => cloudflare,
    production: () => cloudflare.find('animal-store-production'),
    staging: () => cloudflare.find(STAGING),
  };
}

/** The versions of the newest deployment. */
export function served({ deployments }: Worker): string {
  return (deployments.at(-1)?.versions ?? []).map(({ version_id }) => version_id).join();
}

/** A point right after a call that changed something, such as `POST deployments 0/100`. */
export function after(call: string): RegExp {
  return new RegExp(`^after ${call.replace(' ', ' .*')}$`);
}
