/**
 * An environment at Cloudflare, through wrangler: its versions, deployments and database. The messages of versions and
 * deployments are the only state that a release keeps.
 * https://developers.cloudflare.com/workers/versions-and-deployments/
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { unstable_readConfig as readConfig } from 'wrangler';
import * as z from 'zod';
import { PROJECT_ROOT, runWrangler } from '../wrangler.ts';
import type { Build, Release } from './dist.ts';
import { migrationNames, sha256 } from './files.ts';

export const ENVIRONMENTS = ['staging', 'production'] as const;
export type EnvironmentName = (typeof ENVIRONMENTS)[number];

/** Timeout of a wrangler command, longer than any upload takes, so that a hang cannot block a rollback. */
const LIMIT_MS = 180_000;
const CONFIG = join(PROJECT_ROOT, 'wrangler.toml');
/** What wrangler.toml has until an environment is set up. */
const UNSET = /"\w+-(account|database|api-keys)-id"|[\w.-]+\.example/g;

/** Cloudflare's codes for a worker that does not exist. */
const NO_WORKER = /\[code: (10007|10090)\]/;
const PLACEHOLDER = 'placeholder';
export const STEP = 'release: ';
export const SETTLED = 'settled release: ';

/** Without an id wrangler would create a database or namespace by itself: --no-x-provision. */
const AS_BUILT = ['--no-bundle', '--no-x-provision'];

type Options = { config?: string; env?: Record<string, string>; limitMs?: number };

export class NotSetUp extends Error {}

export type Target = ReturnType<typeof readTarget>;

/** An environment as wrangler.toml describes it. `token`: to use instead of CLOUDFLARE_API_TOKEN. */
export function readTarget(environment: EnvironmentName, token?: string) {
  const config = readConfig({ config: CONFIG, env: environment });
  const { name, account_id, d1_databases, kv_namespaces, routes, vars } = config;
  const filledIn = JSON.stringify([account_id, d1_databases, kv_namespaces, routes, vars]);
  const unset = [...new Set(filledIn.match(UNSET))].join(', ');
  return {
    environment,
    worker: name ?? '',
    /** Ends in `/v1`. */
    baseUrl: String(vars.BASE_URL),
    /** Runs wrangler on the environment, by default with the project's configuration. */
    async wrangler(args: string[], { config = CONFIG, env, limitMs = LIMIT_MS }: Options = {}) {
      const fix = 'see First set-up in docs/operations.md';
      if (unset) throw new NotSetUp(`wrangler.toml still has placeholders (${unset}): ${fix}`);
      return runWrangler([...args, '--env', environment, '--config', config], {
        env: { ...env, ...(token && { CLOUDFLARE_API_TOKEN: token }) },
        // In a process group of its own: Ctrl-C in the terminal stops this tool, which then returns.
        detached: process.platform !== 'win32',
        timeout: limitMs,
        // Wrangler may ignore SIGTERM.
        killSignal: 'SIGKILL',
      });
    },
  };
}

const Message = z
  .object({ 'workers/message': z.string().default('') })
  .prefault({})
  .transform((annotations) => annotations['workers/message']);

export const Version = z
  .object({ id: z.string(), metadata: z.object({ created_on: z.string() }), annotations: Message })
  .transform(({ id, metadata, annotations: message }) => ({
    id,
    createdOn: metadata.created_on,
    isPlaceholder: message === PLACEHOLDER,
    /** Unknown for a version that this tool did not upload. */
    release: releaseOf(message),
  }));
export type Version = z.infer<typeof Version>;

/** A release, and D1's state before its migrations, from the message of a version. */
function releaseOf(message: string): (Release & { bookmark: string }) | undefined {
  // Version 1.0.0 of this tool noted the digest as index.js, among others.
  const fields = [/\bcommit=(\S+)/, /\b(?:digest|index\.js)=(\S+)/, /\bbookmark=(\S+)/];
  const [commit, digest, bookmark] = fields.map((field) => field.exec(message)?.[1]);
  return commit && digest && bookmark ? { commit, digest, bookmark } : undefined;
}

/** In percent of the requests. */
const Share = z
  .object({ version_id: z.string(), percentage: z.number() })
  .transform(({ version_id: version, percentage }) => ({ version, percentage }));
export type Share = z.infer<typeof Share>;

export const Deployment = z
  .object({ versions: z.array(Share), annotations: Message })
  .transform(({ versions, annotations: message }) => deploymentOf(versions, message));
export type Deployment = ReturnType<typeof deploymentOf>;

/** A deployment, by its message: a step of a roll-out, a settled one, or one from outside this tool. */
export function deploymentOf(shares: Share[], message: string) {
  return {
    shares: shares.toSorted(
      (a, b) => a.percentage - b.percentage || a.version.localeCompare(b.version),
    ),
    message,
    isStep: message.startsWith(STEP),
    isSettled: message.startsWith(SETTLED),
    /** Whether it was deployed after its tests. Version 1.0.0 wrote "proved". */
    isTested: /^settled release: (tested|proved)/.test(message),
    /** Whether it has the message of a version: version 1.0.0 of this tool deployed some uploads untested. */
    isUpload: releaseOf(message) !== undefined,
    /** The version that a step returns to if it fails. Version 1.0.0 did not note it. */
    returnTo: / return=(\S+)/.exec(message)?.[1],
    /** The run of this tool that made a step. */
    run: / run=(\S+)/.exec(message)?.[1],
  };
}

/** What Cloudflare lists, oldest first: nothing if the worker does not exist. */
export type Deployed = { deployments: Deployment[]; versions: Version[] };

/** Cloudflare lists the newest versions: older ones that are deployed are read, and `wanted`, if it is a full id. */
export async function readDeployed(target: Target, wanted?: string): Promise<Deployed> {
  const listed = readList(target, ['versions', 'list'], NO_WORKER).then(z.array(Version).parse);
  const [deployments, versions] = await Promise.all([listDeployments(target), listed]);
  const noted = deployments.flatMap(({ shares, returnTo }) =>
    shares.map(({ version }) => version).concat(returnTo ?? []),
  );
  const ids = new Set(noted.concat(wanted?.length === 36 ? wanted : []));
  for (const id of ids.difference(new Set(versions.map((version) => version.id)))) {
    const older = await target.wrangler(['versions', 'view', id, '--json']);
    versions.push(Version.parse(JSON.parse(older)));
  }
  return { deployments, versions: versions.sort((a, b) => (a.createdOn < b.createdOn ? -1 : 1)) };
}

export async function listDeployments(target: Target): Promise<Deployment[]> {
  return z.array(Deployment).parse(await readList(target, ['deployments', 'list'], NO_WORKER));
}

/** The JSON that a command prints. An empty list for the error that says that there is none. */
async function readList(target: Target, command: string[], none: RegExp): Promise<unknown> {
  try {
    return JSON.parse(await target.wrangler([...command, '--json']));
  } catch (error) {
    if (none.test(String(error))) return [];
    throw error;
  }
}

export async function deploy(target: Target, shares: Share[], message: string): Promise<void> {
  const specs = shares.map(({ version, percentage }) => `${version}@${percentage}%`);
  await target.wrangler(['versions', 'deploy', ...specs, '--yes', '--message', message]);
}

/** Creates the worker with the placeholder: only then can versions be uploaded and get shares. */
export async function deployPlaceholder(target: Target, { config }: Build): Promise<void> {
  const script = join(import.meta.dirname, 'placeholder.js');
  await target.wrangler(['deploy', script, ...AS_BUILT, '--message', PLACEHOLDER], { config });
}

export async function readBookmark(target: Target): Promise<string> {
  const info = await target.wrangler(['d1', 'time-travel', 'info', 'DB', '--json']);
  return z.object({ bookmark: z.string() }).parse(JSON.parse(info)).bookmark;
}

/** Uploads a build as a version that serves nobody yet. */
export async function uploadVersion(target: Target, build: Build, bookmark: string) {
  const { commit, digest, config, worker } = build;
  if (sha256(await readFile(worker)) !== digest)
    throw new Error(`${worker} changed after its build`);
  const message = `commit=${commit} digest=${digest} bookmark=${bookmark}`;
  const label = ['--message', message, '--tag', commit.slice(0, 12)];
  const path = join(build.folder, 'upload.ndjson');
  const env = { WRANGLER_OUTPUT_FILE_PATH: path };
  await target.wrangler(['versions', 'upload', worker, ...AS_BUILT, ...label], { config, env });
  const entry = JSON.parse((await readFile(path, 'utf8')).trim().split('\n').at(-1) ?? '');
  const metadata = { created_on: new Date().toISOString() };
  const annotations = { 'workers/message': message };
  return Version.parse({ id: entry.version_id, metadata, annotations });
}

/** The migrations of a folder that have not run. (`d1 migrations list` would write.) */
export async function pendingMigrations(target: Target, folder: string): Promise<string[]> {
  const Results = z.array(z.object({ results: z.array(z.object({ name: z.string() })) }));
  const sql = 'SELECT name FROM d1_migrations';
  const command = ['d1', 'execute', 'DB', '--remote', '--command', sql];
  const results = Results.parse(await readList(target, command, /no such table: d1_migrations/));
  const applied = results.flatMap((each) => each.results).map(({ name }) => name);
  return (await migrationNames(folder)).filter((name) => !applied.includes(name));
}

/** For a person: it takes the database back to a bookmark, and loses everything written since. */
export function restoreCommand({ environment }: Target, bookmark: string): string {
  return `npx wrangler d1 time-travel restore DB --env ${environment} --bookmark=${bookmark}`;
}
