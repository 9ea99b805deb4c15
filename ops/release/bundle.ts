/**
 * What is released: built once, into dist/, which is laid out like the project, so that wrangler finds
 * everything there: worker/index.js, public/, migrations/, wrangler.toml, and a manifest of it all.
 */
import { createHash } from 'node:crypto';
import { cp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import { PROJECT_ROOT, runWrangler } from '../wrangler.ts';
import { committedFiles } from './git.ts';
import { CONFIG, type EnvironmentName, readConfig } from './target.ts';

export const DIST = join(PROJECT_ROOT, 'dist');
export const DIST_CONFIG = join(DIST, 'wrangler.toml');
export const WORKER = join(DIST, 'worker/index.js');

const MANIFEST = join(DIST, 'manifest.json');
/** What each environment has for itself, beside the variables ENVIRONMENT and BASE_URL. */
const OWN_SETTINGS = [
  'name',
  'account_id',
  'routes',
  'd1_databases',
  'kv_namespaces',
  'ratelimits',
];
const TOOLS = ['wrangler', 'hono', 'zod', 'typescript'];

const Sha256 = z.string().regex(/^[0-9a-f]{64}$/);
/** SHA-256 of each file, by its path below its folder. */
const Hashes = z.record(z.string(), Sha256);

const Manifest = z.object({
  commit: z.string(),
  builtAt: z.iso.datetime(),
  'index.js': Sha256,
  /** With its source map. Wrangler uploads whatever modules are beside it. */
  worker: Hashes,
  assets: Hashes,
  migrations: Hashes,
  tools: z.record(z.string(), z.string()),
  /** Of what wrangler.toml says beyond what is an environment's own. */
  settings: Sha256,
  /** Written last: these bytes, released to staging, have passed the smoke test there. */
  staging: z
    .object({ version: z.string(), bookmark: z.string(), provedAt: z.iso.datetime() })
    .optional(),
});
export type Manifest = z.infer<typeof Manifest>;

/** Builds dist/ from the work tree, anew. */
export async function build(commit: string): Promise<Manifest> {
  await rm(DIST, { recursive: true, force: true });
  const worker = join(DIST, 'worker');
  await runWrangler(['deploy', '--dry-run', '--env', 'staging', '--outdir', worker]);
  // It holds the time of the build, and says nothing else.
  await rm(join(worker, 'README.md'), { force: true });
  // What git ignores is not in the commit, and may be a secret.
  for (const path of await committedFiles('public', 'migrations/*.sql')) {
    await cp(join(PROJECT_ROOT, path), join(DIST, path));
  }
  await configure();
  const manifest: Manifest = {
    commit,
    builtAt: new Date().toISOString(),
    ...(await hashDist()),
    tools: await toolVersions(),
    settings: hashSettings('staging'),
  };
  await writeManifest(manifest);
  return manifest;
}

/** Lets wrangler work on dist/ with the project's configuration as it is now. */
export async function configure(): Promise<void> {
  await cp(CONFIG, DIST_CONFIG);
}

/** Writes that these bytes have passed on staging. */
export async function writeProof(
  manifest: Manifest,
  staging: NonNullable<Manifest['staging']>,
): Promise<void> {
  await writeManifest({ ...manifest, staging });
}

/**
 * The manifest of dist/, once every byte there has been seen to be the one that was built.
 *
 * @throws Error when there is none, or something was changed.
 */
export async function readRelease(): Promise<Manifest> {
  const text = await readFile(MANIFEST, 'utf8').catch(() => undefined);
  const again = 'run npm run release -- staging';
  if (text === undefined) throw new Error(`there is nothing to promote in dist: ${again}`);
  let manifest: Manifest;
  try {
    manifest = Manifest.parse(JSON.parse(text));
  } catch {
    throw new Error(`dist/manifest.json is not one: ${again}`);
  }
  const changed = differences(manifest, await hashDist());
  if (changed.length > 0) {
    throw new Error(`dist is not what was built (${changed.join(', ')} changed): ${again}`);
  }
  if (manifest.settings !== hashSettings('production')) {
    throw new Error(
      `wrangler.toml gives production other settings than staging was proved with: ${again}`,
    );
  }
  return manifest;
}

/** The `.sql` files of a folder's migrations, in the order in which they run. */
export async function migrationNames(folder: string): Promise<string[]> {
  const entries = await readdir(join(folder, 'migrations'), { withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map(({ name }) => name);
  return files.filter((name) => name.endsWith('.sql')).sort();
}

/** One SHA-256 for a folder: of its lines of `sha256sum`. */
export function digest(hashes: Record<string, string>): string {
  const lines = Object.entries(hashes).map(([path, hash]) => `${hash}  ${path}\n`);
  return sha256(lines.sort().join(''));
}

export function sha256(bytes: string | Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

type DistHashes = Pick<Manifest, 'index.js' | 'worker' | 'assets' | 'migrations'>;

async function hashDist(): Promise<DistHashes> {
  const worker = await hashFolder(join(DIST, 'worker'));
  return {
    'index.js': worker['index.js'] ?? '',
    worker,
    assets: await hashFolder(join(DIST, 'public')),
    migrations: await hashFolder(join(DIST, 'migrations')),
  };
}

async function hashFolder(folder: string): Promise<Record<string, string>> {
  const paths = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  const other = paths.find((entry) => !entry.isFile() && !entry.isDirectory());
  if (other)
    throw new Error(`${join(other.parentPath, other.name)} is neither a file nor a folder`);
  const files = paths
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
  const hashes: Record<string, string> = {};
  for (const file of files) {
    const path = file.slice(folder.length + 1).replaceAll('\\', '/');
    hashes[path] = sha256(await readFile(file));
  }
  return hashes;
}

function differences(built: Manifest, found: DistHashes): string[] {
  return [
    ...changes('worker', built.worker, found.worker),
    ...changes('public', built.assets, found.assets),
    ...changes('migrations', built.migrations, found.migrations),
  ];
}

function changes(
  folder: string,
  before: Record<string, string>,
  now: Record<string, string>,
): string[] {
  const paths = [...new Set([...Object.keys(before), ...Object.keys(now)])];
  return paths.filter((path) => before[path] !== now[path]).map((path) => `${folder}/${path}`);
}

/** Whatever an environment inherits or overrides must be what staging was proved with. */
function hashSettings(environment: EnvironmentName): string {
  const { env, ...inherited } = readConfig();
  const { ENVIRONMENT, BASE_URL, ...vars } = env[environment].vars;
  const settings = Object.entries({ ...inherited, ...env[environment], vars }).filter(
    ([name]) => !OWN_SETTINGS.includes(name),
  );
  return sha256(JSON.stringify(settings.sort(([a], [b]) => a.localeCompare(b))));
}

async function toolVersions(): Promise<Record<string, string>> {
  const versions: Record<string, string> = { node: process.versions.node };
  for (const tool of TOOLS) {
    const path = join(PROJECT_ROOT, 'node_modules', tool, 'package.json');
    const { version } = z
      .object({ version: z.string() })
      .parse(JSON.parse(await readFile(path, 'utf8')));
    versions[tool] = version;
  }
  return versions;
}

async function writeManifest(manifest: Manifest): Promise<void> {
  await writeFile(MANIFEST, `${JSON.stringify(manifest, null, 2)}\n`);
}
