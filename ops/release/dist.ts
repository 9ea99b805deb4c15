/**
 * What is released: a commit, built in dist/ from its own files and the installed packages, and known by a digest.
 * Builds with the same digest are the same bytes.
 */
import { execFile } from 'node:child_process';
import { cp, mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual, promisify } from 'node:util';
import { createTestHarness } from 'wrangler';
import { recordName } from '../../src/keys/record.ts';
import { LOCAL_KEY } from '../local-store.ts';
import { sha256 } from '../migrations.ts';
import { PROJECT_ROOT, runWrangler } from '../wrangler.ts';
import { clientOf, messageOf } from './client.ts';
import { smokeTest } from './smoke.ts';

/** `digest` is the SHA-256 of index.js and the assets. (The source map is rewritten by an upload.) */
export type Release = { commit: string; digest: string };

/** A release in a folder that is laid out like the project. */
export type Build = Release & { folder: string; config: string; worker: string };

/** Builds a commit in an empty folder of dist/. @throws Error when it is not in this clone, or does not build. */
export async function build(commit: string, name = 'release'): Promise<Build> {
  const folder = join(PROJECT_ROOT, 'dist', name);
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  // Only committed files: what git ignores may be a secret.
  const index = { GIT_INDEX_FILE: join(folder, '.git-index') };
  await git(['read-tree', commit], index).catch((cause) => {
    const fix = 'git fetch --unshallow, or fetch-depth: 0 in GitHub Actions';
    throw new Error(`commit ${commit} is not in this clone: ${fix}`, { cause });
  });
  await git(['checkout-index', '--all', `--prefix=${folder}/`], index);

  const config = join(folder, 'wrangler.toml');
  const worker = join(folder, 'worker/index.js');
  // Both environments have the same index.js: `npm run bundle` compares them.
  const args = ['deploy', '--dry-run', '--env', 'staging', '--config', config];
  // The code of packages runs without the secrets of a release.
  const secrets = Object.keys(process.env).filter((name) => /(TOKEN|KEY|SECRET)$/.test(name));
  const env = Object.fromEntries(secrets.map((name) => [name, '']));
  await runWrangler([...args, '--outdir', join(folder, 'worker')], { env });
  const digest = digestOf(sha256(await readFile(worker)), await hashFolder(join(folder, 'public')));
  return { commit, digest, folder, config, worker };
}

/** The digest of a release, from the SHA-256 of its index.js and the hash of its assets. */
export function digestOf(index: string, assets: string): string {
  return sha256(`${index} ${assets}`);
}

/** The SHA-256 of what `sha256sum` prints for the files of a folder, sorted. */
async function hashFolder(folder: string): Promise<string> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  const lines = files.map(async ({ parentPath, name }) => {
    const path = join(parentPath, name);
    const relative = path.slice(folder.length + 1).replaceAll('\\', '/');
    return `${sha256(await readFile(path))}  ${relative}\n`;
  });
  return sha256((await Promise.all(lines)).sort().join(''));
}

/**
 * Proves that migrations only expand: the previous release runs locally, the migrations of the next one are applied
 * to its data, and it must answer as before and pass the smoke test.
 */
export async function provePreviousRelease(previous: Release, next: Build): Promise<void> {
  const { folder, config: configPath } = await build(previous.commit, 'previous');
  const workers = [{ configPath, prebuiltWorkerDir: join(folder, 'worker') }];
  // The runtime is part of this process, and prints where the result may go.
  Object.assign(process.env, { WRANGLER_LOG: 'error', CLOUDFLARE_CF_FETCH_ENABLED: 'false' });
  const server = createTestHarness({ root: folder, workers });
  try {
    const { origin } = (await server.listen()).url;
    const worker = server.getWorker<Env>();
    const { API_KEYS } = await worker.getEnv();
    const record = { id: 'proof', label: 'Proof', createdAt: new Date().toISOString() };
    await API_KEYS.put(await recordName(LOCAL_KEY), JSON.stringify(record));
    await worker.applyD1Migrations('DB');
    const store = { environment: 'local', baseUrl: `${origin}/v1`, apiKey: LOCAL_KEY };
    const client = clientOf(store);
    for (const status of ['available', 'pending', 'sold'] as const) {
      await client.createPet({ name: 'Rex', categoryId: 1n, status });
    }
    const before = await client.listPets().page();
    await cp(join(next.folder, 'migrations'), join(folder, 'migrations'), { recursive: true });
    await worker.applyD1Migrations('DB');
    const after = await client.listPets().page();
    if (!isDeepStrictEqual(after.items, before.items)) throw new Error('its animals have changed');
    await smokeTest(store);
  } catch (cause) {
    const release = `the previous release (commit ${previous.commit.slice(0, 8)})`;
    throw new Error(`${release} fails on the new migrations: ${messageOf(cause)}`, { cause });
  } finally {
    await server.close();
  }
}

/** The commit that is checked out. @throws Error when something in the work tree is not committed. */
export async function committedHead(): Promise<string> {
  const status = await git(['status', '--porcelain', '--untracked-files=all']);
  if (status === '') return git(['rev-parse', 'HEAD']);
  throw new Error(`not everything is committed:${status}`);
}

async function git(args: string[], env = {}): Promise<string> {
  const options = { cwd: PROJECT_ROOT, env: { ...process.env, ...env } };
  return (await promisify(execFile)('git', args, options)).stdout.trimEnd();
}
