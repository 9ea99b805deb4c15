/** A copy of the project, committed and configured for a fake Cloudflare, to release from. */
import { execFile } from 'node:child_process';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect } from 'vitest';
import { environmentOfKey, generateKey } from '../../../src/auth/keys/format.ts';
import { recordName } from '../../../src/auth/keys/record.ts';
import { TOKEN } from '../cloudflare/api.ts';
import { type Cloudflare, startCloudflare } from '../cloudflare/index.ts';
import { copyProject, nextMigration, type Result } from '../project.ts';

export const PRODUCTION = 'animal-store-production';
export const ADDRESS = 'api.animals.test';
export const PROMOTE = ['promote', '--wait=0'];

const KEYS = [generateKey('staging'), generateKey('production')];
/** What wrangler.toml has instead of ids. */
const PLACEHOLDERS = /(staging|production)-(account|database|api-keys)-id/g;

export function releaseProject() {
  const project = copyProject();
  let cloudflare: Cloudflare;
  let output = '';
  const path = (name: string) => join(project.path(), name);
  const processes = () => `${project.path()}.processes`;

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

  /** Commits a migration that follows the others. */
  const addMigration = (what: string, sql: string) =>
    commit(`migrations/${nextMigration(what)}`, () => sql);

  /** The calls that changed something, without where. Rows of a smoke test do not count. */
  const changes = () =>
    cloudflare.calls
      .filter((call) => !/^(GET|PATCH) |assets|changeset|query (SELECT|DELETE)|IF NOT/.test(call))
      .map((call) => call.replace(/\/accounts\/[^/]+\/[^/]+\/[^/]+\/[^/ ]+\/?/, ''));

  /** Sends a client's request to the address of production. */
  const visit = (requested: string) =>
    fetch(`http://127.0.0.1:${cloudflare.port}${requested}`, {
      headers: { 'x-fake-host': ADDRESS, authorization: `Bearer ${KEYS[1]}` },
    });

  /** Starts `npm run release -- <args>`. */
  async function start(args: string[], env: Record<string, string> = {}) {
    await writeFile(processes(), '');
    const isStaging = args[0] === 'staging';
    return project.start('release.ts', args, {
      ...cloudflare.env,
      FAKE_PORT: String(cloudflare.port),
      PROCESSES: processes(),
      // Not --import, whose loader takes a tenth of wrangler's start.
      NODE_OPTIONS: `--require=${JSON.stringify(join(import.meta.dirname, 'preload.cjs'))}`,
      SMOKE_API_KEY: KEYS[isStaging ? 0 : 1] ?? '',
      // Of a command that changes staging, not even a wrong one is used.
      CLOUDFLARE_STAGING_API_TOKEN: isStaging ? 'wrong' : TOKEN,
      // The tool imports wrangler, which starts in less time then.
      NODE_COMPILE_CACHE: path('.wrangler/compile-cache'),
      WRANGLER_LOG_PATH: path('.wrangler/logs'),
      ...env,
    });
  }

  /** Runs it to its end. */
  async function run(args: string[], env: Record<string, string> = {}): Promise<Result> {
    const { exited, stdout, stderr } = await start(args, env);
    const code = await exited;
    output += stdout() + stderr() + (await readFile(processes(), 'utf8'));
    return { code, stdout: stdout(), stderr: stderr() };
  }

  /** Runs it, and expects it to succeed. */
  async function release(...args: string[]): Promise<string> {
    const { code, stdout, stderr } = await run(args);
    expect(code, `${stdout}${stderr}`).toBe(0);
    return stdout;
  }

  /** Runs it, and expects it to fail with one clear line. */
  async function refused(...args: string[]): Promise<string> {
    const { code, stdout, stderr } = await run(args);
    expect(code, `${stdout}${stderr}`).toBe(1);
    expect(stderr).toMatch(/^error: [^\n]*\n$/);
    return stderr;
  }

  /** Runs it until a call, and kills all its processes then. */
  async function killed(args: string[], point: RegExp): Promise<void> {
    const { exited } = await start(args);
    const kill = async () => {
      for (const [pid] of (await readFile(processes(), 'utf8')).matchAll(/^\d+/gm)) {
        try {
          process.kill(Number(pid), 'SIGKILL');
        } catch {
          // It has ended.
        }
      }
    };
    cloudflare.on(point, kill);
    expect(await exited).toBeNull();
  }

  /** Expects that no token or key is in an output or an argument of a command, or in a file of the project. */
  async function expectNoSecrets(): Promise<void> {
    const entries = await readdir(project.path(), { recursive: true, withFileTypes: true });
    const files = entries.filter((file) => file.isFile() && !file.parentPath.includes('/.git/'));
    const texts = files.map((file) => readFile(join(file.parentPath, file.name), 'utf8'));
    const everything = [output, ...(await Promise.all(texts))].join('\n');
    expect(output).toContain('versions deploy');
    for (const secret of [TOKEN, ...KEYS]) expect(everything).not.toContain(secret);
  }

  beforeAll(async () => {
    cloudflare = await startCloudflare();
    for (const key of KEYS) {
      const record = { id: 'key_1', label: 'Smoke test', createdAt: '2026-11-20T00:00:00Z' };
      const namespace = await cloudflare.namespace(`api-keys-of-${environmentOfKey(key)}`);
      await namespace.put(await recordName(key), JSON.stringify(record));
    }
    await writeFile(path('.gitignore'), 'node_modules\ndist/\n.wrangler/\n');
    await git('init', '--quiet');
    await commit('wrangler.toml', (text) =>
      text.replaceAll('animal-store.example', 'animals.test').replace(PLACEHOLDERS, '$2-of-$1'),
    );
  });
  afterAll(() => cloudflare.close());

  return {
    ...{ git, commit, addMigration, changes, visit, expectNoSecrets },
    ...{ start, run, release, refused, killed },
    cloudflare: () => cloudflare,
    production: () => cloudflare.script(PRODUCTION),
    staging: () => cloudflare.script('animal-store-staging'),
  };
}
