/** What a release builds, and what must hold before it changes anything. */
import { execFile } from 'node:child_process';
import { hash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { safeMessage } from '../command/command-line.ts';
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

/** `script`: the path of the built worker. */
export type Build = { commit: string; script: string; sha256: string };

/** Builds the commit that is checked out. Both environments get the same script: `npm run bundle` compares them. */
export async function buildHead(folder: string): Promise<Build> {
  await requireCleanTree();
  const commit = await readHead();
  await wrangler(readTarget('staging'), 'deploy', '--dry-run', '--outdir', folder);
  const script = join(folder, 'index.js');
  return { commit, script, sha256: hash('sha256', await readFile(script)) };
}

/** @throws Error unless the files are those of the commit. A file that git ignores would be released, too. */
async function requireCleanTree() {
  const changed = await git('status', '--porcelain', '--untracked-files=all');
  const folders = ['src', 'public', 'migrations'];
  const ignored = await git('ls-files', '--others', '--ignored', '--exclude-standard', ...folders);
  if (changed || ignored)
    throw new Error(`commit or remove first: ${safeMessage(changed + ignored)}`);
}

/** The id of the commit that is checked out. */
export function readHead(): Promise<string> {
  return git('rev-parse', 'HEAD');
}

async function git(...args: string[]): Promise<string> {
  try {
    return (await promisify(execFile)('git', args, { cwd: PROJECT_ROOT })).stdout.trim();
  } catch (cause) {
    const fix = 'In a copy without history: git init, git add ., git commit';
    throw new Error(`git is required. ${fix} (${safeMessage(cause)})`, { cause });
  }
}

/** Staging serves a version to all only after its test. */
export async function requireTested({ commit, sha256 }: Build, releaseId: string) {
  const staging = readTarget('staging');
  const { newest } = await readDeployments(staging, releaseId);
  const { annotations } = await readVersion(staging, requireOneVersion(staging, newest));
  if (annotations['workers/tag'] !== commit)
    throw new Error('staging does not serve HEAD. Run: npm run release -- staging');
  if (annotations['workers/message'] !== sha256)
    throw new Error("the build differs from staging's. Run npm ci, and release to staging again");
}

/** The test on staging writes, and must not reach the data of production. */
export function requireSeparateStores({ environment, bindings }: Target) {
  const other = readTarget(environment === 'staging' ? 'production' : 'staging');
  const others = Object.values(other.bindings);
  const shared = Object.entries(bindings).find(([, value]) => others.includes(value));
  if (shared) throw new Error(`wrangler.toml: ${shared.join(' = ')} is of both environments`);
}

/** Two versions that share the requests must have one store. */
export function requireSameStore({ bindings }: Target, { id, resources }: Version) {
  for (const [name, value] of Object.entries(bindings)) {
    const bound = resources.bindings.find((each) => each.name === name);
    // The field of the value is `id`, `namespace_id` or `text`.
    if (bound && Object.values(bound).includes(value)) continue;
    const setting = `${name} = ${value} in wrangler.toml`;
    throw new Error(`${setting} is not in ${id}: "Move a store" in docs/operations.md`);
  }
}

/**
 * The secret WRITES_STOPPED stops writes. A version gets the secrets of the newest version, which need not be the one
 * that is served.
 */
export function requireSameWrites(old: Version, next: Version) {
  if (stopsWrites(old) === stopsWrites(next)) return;
  const change = stopsWrites(next) ? 'stop' : 'resume';
  throw new Error(`${next.id} would ${change} writes: "Stop writes" in docs/operations.md`);
}

function stopsWrites({ resources }: Version): boolean {
  return resources.bindings.some(({ name }) => name === 'WRITES_STOPPED');
}

/** The settings of wrangler.toml that decide which hosts serve an environment. */
type HostConfig = {
  name?: string | undefined;
  workers_dev?: boolean | undefined;
  preview_urls?: boolean | undefined;
  routes?: (string | { pattern?: string })[] | undefined;
  vars?: Record<string, unknown> | undefined;
};

/**
 * Returns the host of `BASE_URL`. It must be the only route or, without a route, the worker's at workers.dev: wrangler takes
 * the host of any other route from the worker that has it, without asking. A preview URL would serve versions that are not
 * tested.
 *
 * @throws Error unless exactly one of the two holds, without preview URLs.
 */
export function requireOwnHost(config: HostConfig): string {
  const { name, workers_dev: isAtWorkersDev = false, preview_urls, routes = [], vars } = config;
  const [, host = ''] = /^https:\/\/([^/]+)\/v1$/.exec(String(vars?.BASE_URL)) ?? [];
  const hosts = routes.map((each) => (typeof each === 'string' ? each : each.pattern));
  // `<worker>.<account's name>.workers.dev`
  const [worker, , ...zone] = host.split('.');
  const isOfWorkersDev = zone.join('.') === 'workers.dev';
  const isOwn = isAtWorkersDev
    ? isOfWorkersDev && worker === name && hosts.length === 0
    : !host.endsWith('.workers.dev') && hosts.join() === host;
  if (isOwn && preview_urls === false) return host;
  const rule =
    'wrangler.toml: preview_urls must be false, and the only route must be the host of BASE_URL; with workers_dev there must be no route';
  throw new Error(`${rule}, and BASE_URL must be https://${name}.ACCOUNT.workers.dev/v1`);
}
