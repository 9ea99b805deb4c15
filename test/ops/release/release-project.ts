/** A copy of the project, committed and configured for a fake Cloudflare, to release from. */
import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect } from 'vitest';
import { WRANGLER_ENV } from '../../../ops/wrangler.ts';
import { generateKey } from '../../../src/auth/keys/format.ts';
import { recordName } from '../../../src/auth/keys/record.ts';
import { type Cloudflare, startCloudflare } from '../cloudflare/index.ts';
import { copyProject, type Result } from '../project.ts';

export const PRODUCTION = 'animal-store-production';
export const PROMOTE = ['promote', '--yes', '--hold=0'];
/** What wrangler.toml has instead of ids. */
const PLACEHOLDERS = /(staging|production)-(account|database|api-keys)-id/g;
/** The smoke tests' keys, and one of production that can write. */
export const KEYS = {
  staging: generateKey('staging'),
  production: generateKey('production'),
  writer: generateKey('production'),
};

export function releaseProject() {
  const project = copyProject();
  let cloudflare: Cloudflare;
  const path = (name: string) => join(project.path(), name);

  async function git(...args: string[]): Promise<string> {
    const identity = ['-c', 'user.name=Test', '-c', 'user.email=test@animals.test'];
    const options = { cwd: project.path() };
    return (await promisify(execFile)('git', [...identity, ...args], options)).stdout.trim();
  }

  /** Changes a file and commits that. */
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
  function start(args: string[], env: Record<string, string> = {}) {
    const isStaging = args.join(' ').includes('staging');
    return project.start('release/index.ts', args, {
      ...cloudflare.env,
      FAKE_PORT: String(cloudflare.port),
      // Not --import, whose loader takes a tenth of wrangler's start.
      NODE_OPTIONS: `--require=${JSON.stringify(join(import.meta.dirname, 'preload.cjs'))}`,
      SMOKE_API_KEY: isStaging ? KEYS.staging : KEYS.production,
      WRANGLER_LOG_PATH: path('.wrangler/logs'),
      NODE_COMPILE_CACHE: WRANGLER_ENV.NODE_COMPILE_CACHE,
      ...env,
    });
  }

  /** Runs it to its end. */
  async function run(args: string[], env?: Record<string, string>): Promise<Result> {
    const { exited, stdout, stderr } = start(args, env);
    return { code: await exited, stdout: stdout(), stderr: stderr() };
  }

  /** Runs it, and expects it to succeed. */
  async function release(...args: string[]): Promise<string> {
    const { code, stdout, stderr } = await run(args);
    expect(code, `${stdout}${stderr}`).toBe(0);
    return stdout;
  }

  /** Runs it, and expects it to fail with one clear line, and to have made only some changes. */
  async function refused(args: string[], made: unknown = [], env?: Record<string, string>) {
    const before = changes().length;
    const { code, stdout, stderr } = await run(args, env);
    expect(code, `${stdout}${stderr}`).toBe(1);
    expect(stderr).toMatch(/^error: [^\n]*\n$/);
    expect(changes().slice(before)).toEqual(made);
    return stderr;
  }

  /** Runs it until a call has taken effect, and kills it and its processes then. */
  async function killed(args: string[], call: string): Promise<void> {
    const { process: leader, exited } = start(args);
    cloudflare.on(after(call), () => process.kill(-Number(leader.pid), 'SIGKILL'));
    expect(await exited).toBeNull();
  }

  async function storeKey(key: string, environment: string, scopes: string[]): Promise<void> {
    const record = { id: 'smoke', label: 'Smoke', createdAt: '2026-11-20T00:00:00Z', scopes };
    const namespace = await cloudflare.namespace(`api-keys-of-${environment}`);
    await namespace.put(await recordName(key), JSON.stringify(record));
  }

  beforeAll(async () => {
    cloudflare = await startCloudflare();
    await storeKey(KEYS.staging, 'staging', ['read', 'write']);
    await storeKey(KEYS.production, 'production', ['read']);
    await storeKey(KEYS.writer, 'production', ['read', 'write']);
    await writeFile(path('.gitignore'), 'node_modules\ndist/\n.wrangler/\n');
    await git('init', '--quiet');
    await commit('wrangler.toml', (text) =>
      text.replaceAll('animal-store.example', 'animals.test').replace(PLACEHOLDERS, '$2-of-$1'),
    );
  });
  afterAll(() => cloudflare.close());

  return {
    ...{ git, commit, start, run, release, refused, killed },
    cloudflare: () => cloudflare,
    production: () => cloudflare.find(PRODUCTION),
    staging: () => cloudflare.find('animal-store-staging'),
  };
}

/** A point right after a call that changed something, such as `POST deployments 0/100`. */
export function after(call: string): RegExp {
  return new RegExp(`^after ${call.replace(' ', ' .*')}$`);
}
