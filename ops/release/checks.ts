/** Builds the worker for a release, and checks what must hold before the build is deployed. */
import { hash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { environmentOfKey } from '../../src/auth/key-format.ts';
import type { DeployedEnvironment } from '../command/command-line.ts';
import { git } from '../command/git.ts';
import { PROJECT_ROOT } from '../command/project-root.ts';
import {
  readDeployments,
  readTarget,
  readVersion,
  requireOneVersion,
  type Version,
  wrangler,
} from './deployments.ts';

/** The built worker: its commit, the path of its script, and the hash of the script. */
export type Build = Awaited<ReturnType<typeof buildCommit>>;

/**
 * Builds the files that are checked out, which must be those of the commit. Builds for staging alone, because both environments
 * get the same script: `npm run check` checks that.
 */
export async function buildCommit(commit: string) {
  requireCleanTree();
  const folder = join(PROJECT_ROOT, 'dist/release');
  await wrangler(await readTarget('staging'), 'deploy', '--dry-run', '--outdir', folder);
  const scriptPath = join(folder, 'index.js');
  return { commit, scriptPath, sha256: await hashFile(scriptPath) };
}

/** @throws Error if the checkout or the build has changed, for example while the operator was asked. */
export async function requireUnchangedBuild({ commit, scriptPath, sha256 }: Build) {
  requireCleanTree();
  const isSame = readHead() === commit && (await hashFile(scriptPath)) === sha256;
  if (!isSame) throw new Error('another commit was checked out or built');
}

async function hashFile(path: string): Promise<string> {
  return hash('sha256', await readFile(path));
}

/**
 * @throws Error unless the files are those of HEAD. An ignored file in src, public or migrations could be released, too. The packed
 * client is: each build packs it (ops/local/client-package.ts).
 */
function requireCleanTree() {
  const changed = git('status', '--porcelain', '--untracked-files=all');
  const released = ['src', 'public', 'migrations', ':!public/client-*.tgz'];
  const ignored = git('ls-files', '-oi', '--exclude-standard', ...released);
  if (changed || ignored) throw new Error(`commit or remove first: ${changed} ${ignored}`);
}

/** The id of the commit that is checked out. */
export function readHead() {
  return git('rev-parse', 'HEAD');
}

/**
 * The commits between two, one a line: those of `next` alone with `>`, those of `served` alone with `<`. `served` is the tag of a
 * version, which need not be a commit of this clone.
 */
export function listCommits(served: unknown, next: string): string {
  try {
    // A tag that begins with a hyphen is not an option.
    return git('log', '--oneline', '--left-right', '--end-of-options', `${served}...${next}`);
  } catch {
    return 'unknown: the served version is of no commit in this clone';
  }
}

/** @throws Error unless staging serves this build to all requests, which a release does only after the smoke test. */
export async function requireTested({ commit, sha256 }: Build) {
  const staging = await readTarget('staging');
  const { newest } = await readDeployments(staging);
  const { annotations } = await readVersion(staging, requireOneVersion(newest));
  const served = annotations['workers/tag'];
  if (served !== commit) throw new Error(`staging serves the commit ${served}, not ${commit}`);
  if (annotations['workers/message'] !== sha256)
    throw new Error("the build differs from staging's. Run npm ci, and release to staging again");
}

/** Returns the smoke test's key. @throws Error unless it is a key of the environment. */
export function requireSmokeKey(environment: DeployedEnvironment): string {
  // A secret often ends in a line break.
  const key = (process.env.SMOKE_API_KEY ?? '').trim();
  if (environmentOfKey(key) === environment) return key;
  throw new Error(`SMOKE_API_KEY must be an API key of ${environment}: docs/operations.md#release`);
}

/** What two versions that share the requests must have in common: their stores, their address, and whether writes are stopped. */
const COMMON = ['DB', 'API_KEYS', 'BASE_URL', 'WRITES_STOPPED'];

/**
 * @throws Error unless two versions have the same stores and address, and both or none stops writes. An uploaded version has the
 * secrets of the newest version, which need not be the served one.
 */
export function requireSameBindings(old: Version, next: Version) {
  for (const name of COMMON) {
    if (isDeepStrictEqual(storedValue(old, name), storedValue(next, name))) continue;
    const pages = '"Move a store" and "Stop writes" in docs/operations.md';
    throw new Error(`${name} of ${next.id} is not that of ${old.id}, which is served: ${pages}`);
  }
}

/** The value of a binding is in one of these fields, depending on its type. A secret shows none. */
function storedValue({ resources }: Version, name: string) {
  const binding = resources.bindings.find((each) => each.name === name);
  return binding && [binding.id, binding.namespace_id, binding.text];
}
