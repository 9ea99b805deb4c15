/** An environment at Cloudflare, its versions and its deployments, through wrangler. */
import { join } from 'node:path';
import { unstable_readConfig as readConfig } from 'wrangler';
import type { DeployedEnvironment } from '../command/command-line.ts';
import { PROJECT_ROOT } from '../command/project-root.ts';
import { runWranglerIn } from '../command/wrangler.ts';

/** An environment, as wrangler.toml describes it. */
export type Target = {
  environment: DeployedEnvironment;
  config: ReturnType<typeof readConfig>;
  baseUrl: string;
  /** The values that make it this store and no other, by the name of their binding. */
  bindings: Record<string, string>;
};

type Annotations = { 'workers/message'?: string; 'workers/tag'?: string };

export type Version = {
  id: string;
  annotations?: Annotations;
  resources: { bindings: { name: string }[] };
};

type Deployment = {
  id: string;
  created_on: string;
  author_email?: string;
  annotations?: Annotations;
  versions: { version_id: string; percentage: number }[];
};

/** An id that is not set becomes the text `undefined`, which no version has: `requireSameStore` refuses it. */
export function readTarget(environment: DeployedEnvironment): Target {
  const config = readConfig({ config: join(PROJECT_ROOT, 'wrangler.toml'), env: environment });
  const baseUrl = String(config.vars.BASE_URL);
  const bindings = {
    DB: String(config.d1_databases[0]?.database_id),
    API_KEYS: String(config.kv_namespaces[0]?.id),
    BASE_URL: baseUrl,
  };
  return { environment, config, baseUrl, bindings };
}

/** Ctrl-C does not end wrangler: a call that is cut off may still take effect. The limit is for a hang. */
export function wrangler({ environment }: Target, ...args: string[]): Promise<string> {
  return runWranglerIn(environment, args, { detached: true, timeout: 300_000 });
}

/** Runs a command that changes nothing, and once more if it fails. Returns its JSON. */
export async function readJson(target: Target, ...args: string[]) {
  const read = async () => JSON.parse(await wrangler(target, ...args, '--json'));
  return read().catch(read);
}

export async function readVersion(target: Target, id: string): Promise<Version> {
  const version: Version = await readJson(target, 'versions', 'view', id);
  // What follows deploys, or compares, by the id in the answer.
  if (version.id === id) return version;
  throw new Error(`Cloudflare answers with the version ${version.id} instead of ${id}`);
}

/** The commit of a version, as its release has noted it. */
export function commitOf({ annotations }: Version): string | undefined {
  return annotations?.['workers/tag'];
}

/** The SHA-256 of its script, as its release has noted it. */
export function sha256Of({ annotations }: Version): string | undefined {
  return annotations?.['workers/message'];
}

/** Serves an earlier version to all. Changes no settings. */
export function serve(target: Target, version: string, message: string): Promise<string> {
  return wrangler(target, 'rollback', version, '--yes', '--message', message);
}

/** The version that serves all requests of a deployment, unless two share them. */
export function onlyVersionOf({ versions }: Deployment): string | undefined {
  const [first, ...others] = versions;
  return others.length === 0 ? first?.version_id : undefined;
}

/** @throws Error if two versions share the requests. */
export function requireOneVersion({ environment }: Target, deployment: Deployment): string {
  const version = onlyVersionOf(deployment);
  if (version) return version;
  const page = '"Unfinished releases" in docs/operations.md';
  throw new Error(`a release is unfinished on ${environment}: ${describe(deployment)}. ${page}`);
}

/** As wrangler accepts them, such as `1b4e28ba-…@10% 6fa459ea-…@90%`. */
export function sharesOf({ versions }: Deployment): string {
  const shares = versions.map((each) => `${each.version_id}@${each.percentage}%`);
  return shares.sort().join(' ');
}

export function describe(deployment: Deployment): string {
  const { created_on, author_email = 'somebody', annotations } = deployment;
  const message = annotations?.['workers/message'] ?? 'none';
  return `${created_on} ${author_email} deployed ${sharesOf(deployment)} (message: ${message})`;
}

/** Whether a release has made this deployment: its message is the id of the release. Others may have no message. */
export function isOfRelease(releaseId: string | undefined, { annotations }: Deployment): boolean {
  return releaseId !== undefined && annotations?.['workers/message'] === releaseId;
}

/**
 * The ten newest deployments, the newest first. `newestOfOthers`: the newest one that is not of this release.
 *
 * @throws Error with the commands to run if there is none.
 */
export async function readDeployments(target: Target, releaseId?: string) {
  // Wrangler lists the oldest first.
  const deployments: Deployment[] = (await readJson(target, 'deployments', 'list')).reverse();
  const [newest] = deployments;
  const newestOfOthers = deployments.find((each) => !isOfRelease(releaseId, each));
  if (newest && newestOfOthers) return { deployments, newest, newestOfOthers };
  const option = `--env ${target.environment}`;
  const list = `Choose a version: npx wrangler versions list ${option}`;
  const fix = `${list}. Then run: npm run release -- rollback <version> ${option}`;
  throw new Error(`none of the ten newest deployments is of others. ${fix}`);
}
