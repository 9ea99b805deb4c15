/** A copy of the project, committed and set up at a fake Cloudflare, to release from. */
import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect } from 'vitest';
import { type Cloudflare, startCloudflare } from '../cloudflare/index.ts';
import { copyProject, type Project, type Result } from '../project.ts';

export const ACCOUNT = '0123456789abcdef0123456789abcdef';

export type ReleaseProject = Project & {
  cloudflare(): Cloudflare;
  /** The environment that commands run in, with the smoke test's key of an environment. */
  env(environment?: 'staging' | 'production'): Record<string, string>;
  /** Adds variables to that. */
  addEnv(more: Record<string, string>): void;
  /** Runs `npm run release -- <args>`, and expects it to succeed. */
  release(...args: string[]): Promise<string>;
  /** Runs it, and expects it to fail in one line. */
  refused(...args: string[]): Promise<string>;
  /** Runs it to whatever end. */
  attempt(...args: string[]): Promise<Result>;
  /** Waits until nothing calls Cloudflare any more: wrangler, whose parent was killed, comes to its end. */
  quiet(): Promise<void>;
  /** Changes a file and commits that. */
  commit(path: string, change: (text: string) => string): Promise<void>;
  git(...args: string[]): Promise<string>;
};

/** Sends the requests for the addresses of the fake to its edge. */
const TO_THE_EDGE = `
  const { fetch } = globalThis;
  globalThis.fetch = (input, init) => {
    const url = new URL(input instanceof Request ? input.url : input);
    if (!/\\.(test|workers\\.dev)$/.test(url.hostname)) return fetch(input, init);
    const headers = { ...init?.headers, 'x-fake-host': url.host };
    return fetch('http://127.0.0.1:' + process.env.EDGE_PORT + url.pathname + url.search, { ...init, headers });
  };
`;

export function releaseProject(): ReleaseProject {
  const project = copyProject();
  const keys: Partial<Record<string, string>> = {};
  const added: Record<string, string> = {};
  let cloudflare: Cloudflare;

  const git: ReleaseProject['git'] = async (...args) => {
    const identity = ['-c', 'user.name=Test', '-c', 'user.email=test@animals.test'];
    const { stdout } = await promisify(execFile)('git', [...identity, ...args], {
      cwd: project.path(),
    });
    return stdout.trim();
  };
  const commit: ReleaseProject['commit'] = async (path, change) => {
    const file = join(project.path(), path);
    await writeFile(file, change(await readFile(file, 'utf8').catch(() => '')));
    await git('add', '--all');
    await git('commit', '--quiet', '--message', `Change ${path}`);
  };
  const env: ReleaseProject['env'] = (environment) => ({
    ...cloudflare.env,
    EDGE_PORT: String(cloudflare.edgePort),
    NODE_OPTIONS: `--import=${new URL(`file://${project.path()}/../to-the-edge.mjs`)}`,
    SMOKE_API_KEY: (environment && keys[environment]) ?? '',
    ...added,
  });
  const environmentOf = (args: string[]) =>
    args[0] === 'staging' || args.includes('staging') ? 'staging' : 'production';
  const attempt: ReleaseProject['attempt'] = (...args) =>
    project.run('release.ts', args, env(environmentOf(args)));

  beforeAll(async () => {
    cloudflare = await startCloudflare();
    await writeFile(join(project.path(), '../to-the-edge.mjs'), TO_THE_EDGE);
    await writeFile(join(project.path(), '.gitignore'), 'node_modules\ndist/\n.wrangler/\n');
    await git('init', '--quiet');
    await commit('wrangler.toml', (text) =>
      text.replaceAll('animal-store.example', 'animals.test'),
    );
    for (const environment of ['staging', 'production']) {
      const args = ['setup', '--env', environment, '--account', ACCOUNT, '--json'];
      const { code, stdout, stderr } = await project.run('release.ts', args, env());

      expect(code, stderr).toBe(0);
      const { key } = JSON.parse(stdout);
      // It is shown once, and to nobody who follows the steps.
      expect(stdout.split(key)).toHaveLength(2);
      expect(stderr).not.toContain(key);
      keys[environment] = key;
    }
    await commit('.setup', () => 'done');
  }, 120_000);
  afterAll(() => cloudflare.close());

  return {
    ...project,
    cloudflare: () => cloudflare,
    env,
    async quiet() {
      const { calls } = cloudflare;
      for (let seen = -1; seen !== calls.length; ) {
        seen = calls.length;
        await new Promise((resolve) => setTimeout(resolve, 1500));
      }
    },
    addEnv: (more) => void Object.assign(added, more),
    git,
    commit,
    attempt,
    async release(...args) {
      const { code, stdout, stderr } = await attempt(...args);
      expect(code, `${stdout}${stderr}`).toBe(0);
      return stdout;
    },
    async refused(...args) {
      const { code, stdout, stderr } = await attempt(...args);
      expect(code, `${stdout}${stderr}`).toBe(1);
      expect(stderr).toMatch(/^error: [^\n]*\n$/);
      return stderr;
    },
  };
}
