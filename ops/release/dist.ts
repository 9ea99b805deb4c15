/** What is released: a commit, built below dist/ from its own files and the installed packages. */
import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createTestHarness } from 'wrangler';
import { recordName } from '../../src/auth/keys/record.ts';
import { oneLine } from '../command-line.ts';
import { LOCAL_KEY, LOCAL_KEY_RECORD } from '../local/store.ts';
import { PROJECT_ROOT, runWrangler } from '../wrangler.ts';
import { sha256 } from './files.ts';
import { testMigrations } from './smoke.ts';

/** The same commit and digest, the SHA-256 of index.js, are the same bytes: assets are files of the commit. */
export type Release = { commit: string; digest: string };
/** A release in a folder that is laid out like the project. */
export type Build = Release & { folder: string; config: string; worker: string };

/** Builds a commit for an action, in a folder of its own in the project, whose packages it uses; then removes that. */
export async function withBuild<T>(commit: string, action: (build: Build) => Promise<T>) {
  const parent = join(PROJECT_ROOT, 'dist');
  await mkdir(parent, { recursive: true });
  const folder = await mkdtemp(join(parent, `${commit.slice(0, 8)}-`));
  try {
    return await action(await build(commit, folder));
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

async function build(commit: string, folder: string): Promise<Build> {
  // Only committed files: what git ignores may be a secret.
  const index = { GIT_INDEX_FILE: join(folder, '.git-index') };
  await git(['read-tree', commit], index).catch((cause) => {
    const fix = 'git fetch --unshallow, or push its branch';
    throw new Error(`commit ${commit} is not in this clone: ${fix}`, { cause });
  });
  // The bytes of the commit, on Windows too.
  const checkout = ['-c', 'core.autocrlf=false', 'checkout-index', '--all'];
  await git([...checkout, `--prefix=${folder}/`], index);
  const config = join(folder, 'wrangler.toml');
  const worker = join(folder, 'worker/index.js');
  // Both environments have the same index.js: `npm run bundle` compares them.
  const args = ['deploy', '--dry-run', '--env', 'staging', '--config', config];
  // The code of packages runs without the secrets of a release.
  const secrets = Object.keys(process.env).filter((name) => /(TOKEN|KEY|SECRET)$/.test(name));
  const env = Object.fromEntries(secrets.map((name) => [name, '']));
  await runWrangler([...args, '--outdir', join(folder, 'worker')], { env });
  return { commit, digest: sha256(await readFile(worker)), folder, config, worker };
}

/** Tests that migrations only expand: the previous release runs locally while those of the next one are applied. */
export async function testPreviousRelease({ commit }: Release, next: Build): Promise<void> {
  await withBuild(commit, (previous) => testOn(previous, next)).catch((cause) => {
    const what = `the previous release (commit ${commit.slice(0, 8)}) fails on the new migrations`;
    throw new Error(`${what}: ${oneLine(cause)}`, { cause });
  });
}

async function testOn({ folder, config: configPath }: Build, next: Build): Promise<void> {
  const workers = [{ configPath, prebuiltWorkerDir: join(folder, 'worker') }];
  // The runtime is part of this process, and prints where the result may go.
  Object.assign(process.env, { WRANGLER_LOG: 'error', CLOUDFLARE_CF_FETCH_ENABLED: 'false' });
  const server = createTestHarness({ root: folder, workers });
  try {
    const { origin } = (await server.listen()).url;
    const worker = server.getWorker<Env>();
    const { API_KEYS } = await worker.getEnv();
    await API_KEYS.put(await recordName(LOCAL_KEY), JSON.stringify(LOCAL_KEY_RECORD));
    await worker.applyD1Migrations('DB');
    const store = { environment: 'local', baseUrl: `${origin}/v1`, apiKey: LOCAL_KEY };
    await testMigrations(store, async () => {
      await cp(join(next.folder, 'migrations'), join(folder, 'migrations'), { recursive: true });
      await worker.applyD1Migrations('DB');
    });
  } finally {
    await server.close();
  }
}

/** The commit that is checked out. @throws Error when something in the work tree is not committed. */
export async function committedHead(): Promise<string> {
  const status = await git(['status', '--porcelain', '--untracked-files=all']);
  if (status === '') return git(['rev-parse', 'HEAD']);
  throw new Error(`commit or remove these files first: ${status.trim()}`);
}

export async function git(args: string[], env = {}): Promise<string> {
  const options = { cwd: PROJECT_ROOT, env: { ...process.env, ...env } };
  return (await promisify(execFile)('git', args, options)).stdout.trimEnd();
}
