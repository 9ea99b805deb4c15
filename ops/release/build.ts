/** What is released: a commit, built below dist/ from its own files and the installed packages. */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cp, mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createTestHarness } from 'wrangler';
import { oneLine } from '../command-line.ts';
import { PROJECT_ROOT, runWrangler } from '../wrangler.ts';
import { testMigrations } from './smoke.ts';

/** The fixed key of the local environment (README). */
const LOCAL_KEY = 'animal_local_ThisKeyOpensOnlyALocalStore0001k8qeP';

/** A commit in a folder laid out like the project. `digest`: SHA-256 of the script; assets are files of the commit. */
export type Build = { commit: string; digest: string; folder: string; worker: string };

/** Builds a commit for an action, in a folder of its own in the project, whose packages it uses; then removes that. */
export async function withBuild<T>(commit: string, action: (build: Build) => Promise<T>) {
  await mkdir(join(PROJECT_ROOT, 'dist'), { recursive: true });
  const folder = await mkdtemp(join(PROJECT_ROOT, 'dist', `${commit.slice(0, 8)}-`));
  try {
    // Only committed files: what git ignores may be a secret. With the bytes of the commit, on Windows too.
    const index = { GIT_INDEX_FILE: join(folder, '.git-index') };
    const checkout = ['-c', 'core.autocrlf=false', 'checkout-index', '--all'];
    await git(['read-tree', commit], index);
    await git([...checkout, `--prefix=${folder}/`], index);
    // Both environments have the same script: `npm run bundle` compares them.
    const config = ['--env', 'staging', '--config', join(folder, 'wrangler.toml')];
    await runWrangler(['deploy', '--dry-run', '--outdir', join(folder, 'worker'), ...config]);
    const worker = join(folder, 'worker/index.js');
    return await action({ commit, digest: sha256(await readFile(worker)), folder, worker });
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

const sha256 = (bytes: string | Uint8Array) => createHash('sha256').update(bytes).digest('hex');

/** Tests that an old build lives with the migrations of a new one: it runs locally while they are applied. */
export async function testOldCode(old: Build, next: Build): Promise<void> {
  const [folder, prebuiltWorkerDir] = [old.folder, join(old.folder, 'worker')];
  // The runtime is part of this process, and prints where the progress goes.
  Object.assign(process.env, { WRANGLER_LOG: 'error', CLOUDFLARE_CF_FETCH_ENABLED: 'false' });
  const server = createTestHarness({
    root: folder,
    workers: [{ configPath: join(folder, 'wrangler.toml'), prebuiltWorkerDir }],
  });
  try {
    const { origin } = (await server.listen()).url;
    const worker = server.getWorker<Env>();
    const { API_KEYS } = await worker.getEnv();
    const record = { id: 'local', label: 'Release', createdAt: '2026-01-01T00:00:00.000Z' };
    await API_KEYS.put(`key:${sha256(LOCAL_KEY)}`, JSON.stringify(record));
    await worker.applyD1Migrations('DB');
    const store = { environment: 'local', baseUrl: `${origin}/v1`, apiKey: LOCAL_KEY };
    await testMigrations(store, async () => {
      await cp(join(next.folder, 'migrations'), join(folder, 'migrations'), { recursive: true });
      await worker.applyD1Migrations('DB');
    });
  } catch (cause) {
    const what = `commit ${old.commit.slice(0, 8)}, which is served, fails on the new migrations`;
    throw new Error(`${what}: ${oneLine(cause)}`, { cause });
  } finally {
    await server.close();
  }
}

/** Runs git in the project. */
export async function git(args: string[], env = {}): Promise<string> {
  const options = { cwd: PROJECT_ROOT, env: { ...process.env, ...env } };
  return (await promisify(execFile)('git', args, options)).stdout.trimEnd();
}
