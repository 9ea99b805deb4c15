/** Builds the worker for a release, and checks what must hold before the build is deployed. */
import { hash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Unstable_Config as Config } from 'wrangler';
import { git } from '../command/git.ts';
import { PROJECT_ROOT } from '../command/project-root.ts';
import {
  readDeployments,
  readTarget,
  readVersion,
  requireOneVersion,
  type Target,
  type Version,
  wrangler,
} from './deployments.ts';

/** The built worker: its commit, the path of its script, and the hash of the script. */
export type Build = Awaited<ReturnType<typeof buildCommit>>;

/**
 * Builds the files that are checked out, which must be those of the commit. Builds for staging alone, because both environments
 * get the same script: `npm run bundle` checks that.
 */
export async function buildCommit(commit: string) {
  requireCleanTree();
  const folder = join(PROJECT_ROOT, 'dist/release');
  await wrangler(await readTarget('staging'), 'deploy', '--dry-run', '--outdir', folder);
  const scriptPath = join(folder, 'index.js');
  return { commit, scriptPath, sha256: hash('sha256', await readFile(scriptPath)) };
}

/** @throws Error unless the files are those of HEAD. An ignored file in src, public or migrations could be released, too. */
function requireCleanTree() {
  const changed = git('status', '--porcelain', '--untracked-files=all');
  const ignored = git('ls-files', '-oi', '--exclude-standard', 'src', 'public', 'migrations');
  if (changed || ignored) throw new Error(`commit or remove first: ${changed} ${ignored}`);
}

/** The id of the commit that is checked out. */
export function readHead() {
  return git('rev-parse', 'HEAD');
}

/** @throws Error unless staging serves this build to all requests, which a release does only after the smoke test. */
export async function requireTested({ commit, sha256 }: Build) {
  const staging = await readTarget('staging');
  const { newest } = await readDeployments(staging);
  const { annotations } = await readVersion(staging, requireOneVersion(newest));
  if (annotations['workers/tag'] !== commit)
    throw new Error('staging does not serve HEAD. Run: npm run release -- staging');
  if (annotations['workers/message'] !== sha256)
    throw new Error("the build differs from staging's. Run npm ci, and release to staging again");
}

/** The test on staging writes, and must not reach the data of production. */
export async function requireSeparateStores() {
  const staging = await readTarget('staging');
  const production = await readTarget('production');
  const productionValues = Object.values(production.bindings);
  for (const [name, value] of Object.entries(staging.bindings))
    if (productionValues.includes(value))
      throw new Error(`wrangler.toml: ${name} is the same in staging and production`);
}

/** Two versions that share the requests must have one store. */
export function requireSameStore({ bindings }: Target, { id, resources }: Version) {
  for (const [name, value] of Object.entries(bindings)) {
    const bound = resources.bindings.find((each) => each.name === name);
    // The value is in the field `id`, `namespace_id` or `text`, depending on the type of the binding.
    if (bound && Object.values(bound).includes(value)) continue;
    const page = '"Move a store" in docs/operations.md';
    throw new Error(`${name} = ${value} in wrangler.toml is not in version ${id}: ${page}`);
  }
}

/**
 * The secret WRITES_STOPPED stops writes. An uploaded version gets the secrets of the newest version, which need not be the
 * served one.
 */
export function requireSameWriteStop(old: Version, next: Version) {
  if (stopsWrites(old) === stopsWrites(next)) return;
  const page = '"Stop writes" in docs/operations.md';
  throw new Error(`${next.id} would stop or resume writes: ${page}`);
}

function stopsWrites({ resources }: Version): boolean {
  return resources.bindings.some(({ name }) => name === 'WRITES_STOPPED');
}

/**
 * Returns the host of `BASE_URL`. It must be the only host, because wrangler takes a host from any other worker without asking: a
 * second route could cut off another service. A preview URL is refused, because it would serve untested versions.
 */
export function requireOwnHost(config: Partial<Config>): string {
  const { name, workers_dev, preview_urls, routes = [], vars } = config;
  const host = URL.parse(String(vars?.BASE_URL))?.host;
  const hosts = routes.map((each) => (typeof each === 'string' ? each : each.pattern));
  // On workers.dev, the host contains the name of the account, which no other setting has.
  const account = host?.split('.')[1];
  if (workers_dev) hosts.push(`${name}.${account}.workers.dev`);
  if (hosts.join() === host && preview_urls === false) return host;
  const rule =
    'wrangler.toml: the host of BASE_URL must be the only one, without a preview URL or a second route.';
  throw new Error(`${rule} With workers_dev it is ${name}.ACCOUNT.workers.dev`);
}
