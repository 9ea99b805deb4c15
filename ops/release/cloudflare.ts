/**
 * The worker's versions and deployments at Cloudflare, through wrangler.
 * https://developers.cloudflare.com/workers/versions-and-deployments/
 */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as z from 'zod';
import { runWrangler } from '../wrangler.ts';
import { DIST_CONFIG, WORKER } from './bundle.ts';
import { formatIdentity, type Identity, parseIdentity } from './identity.ts';
import type { Target } from './target.ts';

const Annotations = z.object({ 'workers/message': z.string().optional() }).default({});

const Version = z
  .object({
    id: z.string(),
    metadata: z.object({ created_on: z.string() }),
    annotations: Annotations,
  })
  .transform(({ id, metadata, annotations }) => ({
    id,
    createdOn: metadata.created_on,
    identity: parseIdentity(annotations['workers/message']),
  }));
export type Version = z.infer<typeof Version>;

const Deployment = z
  .object({
    created_on: z.string(),
    versions: z.array(z.object({ version_id: z.string(), percentage: z.number() })),
    annotations: Annotations,
  })
  .transform(({ created_on, versions, annotations }) => ({
    createdOn: created_on,
    /** Whether it was a step on the way of a roll-out. */
    step: annotations['workers/message']?.startsWith(STEP) ?? false,
    /** Why a settled one was made; `undefined` for any other. */
    settled: annotations['workers/message']?.split(SETTLED)[1],
    shares: versions.map(({ version_id, percentage }) => ({ version: version_id, percentage })),
  }));
export type Deployment = z.infer<typeof Deployment>;

/** A version's share of the requests, in percent. */
export type Share = Deployment['shares'][number];

/** Longer than any upload takes; nothing that hangs may keep production from being returned. */
const WRANGLER_LIMIT_MS = 180_000;

/**
 * Why we made a deployment, in its message. A settled one serves a version that may be returned to: proved, or
 * chosen by an operator. Any other is a step on the way.
 */
const STEP = 'release: ';
const SETTLED = 'settled release: ';

/**
 * Runs a wrangler command on an environment. Where the two are in accounts of their own, what promotes may be
 * given a token of its own for looking at staging.
 */
export function wrangler(
  { environment }: Target,
  args: string[],
  env: Record<string, string> = {},
): Promise<string> {
  const token = environment === 'staging' && process.env.CLOUDFLARE_STAGING_API_TOKEN;
  return runWrangler([...args, '--env', environment], {
    env: { ...env, ...(token && { CLOUDFLARE_API_TOKEN: token }) },
    // In a process group of its own: a signal from the terminal is ours to act on, not wrangler's.
    detached: process.platform !== 'win32',
    timeout: WRANGLER_LIMIT_MS,
  });
}

/** @throws Error when nobody is logged in. */
export async function login(): Promise<void> {
  await runWrangler(['whoami', '--json']).catch((error: Error) => {
    // Anything else is said better by what comes next: some tokens may do all but ask who they are.
    if (!error.message.includes('"loggedIn":false')) return;
    throw new Error('nobody is logged in: run npx wrangler login, or set CLOUDFLARE_API_TOKEN');
  });
}

/** The ten newest deployments, oldest first; none when the worker does not exist. */
export async function listDeployments(target: Target): Promise<Deployment[]> {
  const output = await orNothing(wrangler(target, ['deployments', 'list', '--json']));
  return z.array(Deployment).parse(JSON.parse(output));
}

/** The ten newest versions that can be deployed, oldest first; none when the worker does not exist. */
export async function listVersions(target: Target): Promise<Version[]> {
  const output = await orNothing(wrangler(target, ['versions', 'list', '--json']));
  return z.array(Version).parse(JSON.parse(output));
}

/** Uploads dist/ as a version that nobody is served by yet, and returns its id. */
export async function uploadVersion(target: Target, identity: Identity): Promise<string> {
  const { version_id } = await send(target, ['versions', 'upload'], identity, DIST_CONFIG);
  return version_id;
}

/**
 * Deploys dist/ at once, to all: with the triggers of `config`. `targets` are the addresses that it can be
 * reached at.
 */
export async function deploy(
  target: Target,
  identity: Identity,
  config = DIST_CONFIG,
): Promise<{ version: string; targets: string[] }> {
  const { version_id, targets = [] } = await send(target, ['deploy'], identity, config);
  return { version: version_id, targets };
}

/** Deploys versions with their shares of the requests, as a step of a roll-out. */
export async function deployShares(target: Target, shares: Share[]): Promise<void> {
  const [newest] = shares;
  await deployVersions(target, shares, `${STEP}${newest?.percentage} %`);
}

/** Deploys one version to all, to stay. The bookmark is D1's of before its promotion. */
export async function settle(
  target: Target,
  version: string,
  why: string,
  bookmark?: string,
): Promise<void> {
  const note = bookmark === undefined ? '' : ` bookmark=${bookmark}`;
  await deployVersions(target, [{ version, percentage: 100 }], `${SETTLED}${why}${note}`);
}

async function deployVersions(target: Target, shares: Share[], message: string): Promise<void> {
  const specs = shares.map(({ version, percentage }) => `${version}@${percentage}%`);
  await wrangler(target, ['versions', 'deploy', ...specs, '--yes', '--message', message]);
}

/** Attaches the routes and crons of a configuration. */
export async function attachTriggers(target: Target, config = DIST_CONFIG): Promise<void> {
  await wrangler(target, ['triggers', 'deploy', '--config', config]);
}

const Uploaded = z.object({
  type: z.enum(['deploy', 'version-upload']),
  version_id: z.string(),
  targets: z.array(z.string()).optional(),
});

/** Sends the bytes of dist/ as they are. What wrangler prints is for people; this file is for us. */
async function send(target: Target, command: string[], identity: Identity, config: string) {
  const folder = await mkdtemp(join(tmpdir(), 'animal-store-'));
  try {
    const output = join(folder, 'output.ndjson');
    // Without ids wrangler would create what is missing by itself: --no-x-provision.
    const bytes = [WORKER, '--no-bundle', '--no-x-provision', '--config', config];
    const label = ['--message', formatIdentity(identity), '--tag', identity.commit.slice(0, 12)];
    await wrangler(target, [...command, ...bytes, ...label], { WRANGLER_OUTPUT_FILE_PATH: output });
    const lines = (await readFile(output, 'utf8')).trim().split('\n');
    const uploaded = lines.map((line) => Uploaded.safeParse(JSON.parse(line)).data);
    const result = uploaded.find((entry) => entry !== undefined);
    if (!result) throw new Error('wrangler did not say which version it uploaded');
    return result;
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** An empty list in place of the error that there is no such worker. */
async function orNothing(listing: Promise<string>): Promise<string> {
  try {
    return await listing;
  } catch (error) {
    // The worker, or its service, does not exist: wrangler tells these apart from other errors, too.
    if (/\[code: (10007|10090)\]/.test(String(error))) return '[]';
    throw error;
  }
}
