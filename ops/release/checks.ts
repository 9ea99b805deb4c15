/** What a release builds, and what must hold before it changes anything. */
import { execFile } from 'node:child_process';
import { hash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { safeMessage } from '../command/command-line.ts';
import { PROJECT_ROOT } from '../command/project-root.ts';
import {
  commitOf,
  readDeployments,
  readTarget,
  readVersion,
  requireOneVersion,
  sha256Of,
  type Target,
  type Version,
  wrangler,
} from './deployments.ts';

/** `script`: the path of the built worker. */
export type Build = { commit: string; script: string; sha256: string };

/** Builds the commit that is checked out. Both environments get the same script: `npm run bundle` compares them. */
export async function buildHead(folder: string): Promise<Build> {
  const commit = await readHead();
  await wrangler(readTarget('staging'), 'deploy', '--dry-run', '--outdir', folder);
  const script = join(folder, 'index.js');
  return { commit, script, sha256: hash('sha256', await readFile(script)) };
}

const NO_GIT = 'git is required. In a copy without history: git init, git add ., git commit';

/** @throws Error unless the files are those of the commit. A file that git ignores would be released, too. */
export async function readHead(): Promise<string> {
  const changed = await git('status', '--porcelain', '--untracked-files=all').catch((cause) => {
    throw new Error(`${NO_GIT} (${safeMessage(cause)})`, { cause });
  });
  const folders = ['src', 'public', 'migrations'];
  const ignored = await git('ls-files', '--others', '--ignored', '--exclude-standard', ...folders);
  if (changed || ignored)
    throw new Error(`commit or remove first: ${safeMessage(changed + ignored)}`);
  return git('rev-parse', 'HEAD');
}

/** Staging serves a version to all only after its test. */
export async function requireTested({ commit, sha256 }: Build) {
  const staging = readTarget('staging');
  const { newest } = await readDeployments(staging);
  const tested = await readVersion(staging, requireOneVersion(staging, newest));
  if (commitOf(tested) !== commit)
    throw new Error('staging does not serve HEAD. Run: npm run release -- staging');
  if (sha256Of(tested) !== sha256)
    throw new Error("the build differs from staging's. Run npm ci, and release to staging again");
}

/** Prints the served commit and the released one, and whether that goes back in history. */
export async function printChange(old: Version, { commit }: Build) {
  const oldCommit = commitOf(old);
  console.log('The served commit is', oldCommit ?? 'unknown', 'and the release is', commit);
  if (!oldCommit) return;
  try {
    await git('merge-base', '--is-ancestor', oldCommit, commit);
  } catch (error) {
    // With another code, the history here lacks the served commit.
    if (Object(error).code === 1) console.log('It goes BACK in history.');
  }
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
 *
 * @throws Error if `next` would stop writes or, unless `mayResume`, resume them.
 */
export function requireSameWrites(old: Version, next: Version, mayResume = false) {
  const before = stopsWrites(old);
  const after = stopsWrites(next);
  if (before === after || (before && mayResume)) return;
  const change = after ? 'stop' : 'resume';
  throw new Error(`${next.id} would ${change} writes: "Stop writes" in docs/operations.md`);
}

function stopsWrites({ resources }: Version): boolean {
  return resources.bindings.some(({ name }) => name === 'WRITES_STOPPED');
}

async function git(...args: string[]): Promise<string> {
  return (await promisify(execFile)('git', args, { cwd: PROJECT_ROOT })).stdout.trim();
}
