/** An environment at Cloudflare, its versions and its deployments, through wrangler. */
import { join } from 'node:path';
import { unstable_readConfig as readConfig } from 'wrangler';
import type { DeployedEnvironment } from './command-line.ts';
import { PROJECT_ROOT, runWranglerIn } from './wrangler.ts';

/** An environment, as wrangler.toml describes it. */
export type Target = {
  environment: DeployedEnvironment;
  worker: string;
  config: ReturnType<typeof readConfig>;
  baseUrl: string;
  /** The values that make it this store and no other, by the name of their binding. */
  bindings: Record<string, string>;
};

type Annotations = { 'workers/message'?: string; 'workers/tag'?: string };

/** Its release has noted the commit as the tag, and the SHA-256 of the script as the message. */
export type Version = {
  id: string;
  annotations?: Annotations;
  resources: { bindings: { name: string }[] };
};

export type Deployment = {
  id: string;
  created_on: string;
  author_email?: string;
  annotations?: Annotations;
  versions: { version_id: string; percentage: number }[];
};

export function readTarget(environment: DeployedEnvironment): Target {
  const config = readConfig({ config: join(PROJECT_ROOT, 'wrangler.toml'), env: environment });
  const baseUrl = String(config.vars.BASE_URL);
  const bindings = {
    DB: String(config.d1_databases[0]?.database_id),
    API_KEYS: String(config.kv_namespaces[0]?.id),
    BASE_URL: baseUrl,
  };
  return { environment, worker: String(config.name), config, baseUrl, bindings };
}

/** Ctrl-C does not end wrangler: a call that is cut off may still take effect. The limit is for a hang. */
export function wrangler({ environment }: Target, ...args: string[]): Promise<string> {
  return runWranglerIn(environment, args, { detached: true, timeout: 300_000 });
}

/** Runs a command that changes nothing, and once more if it fails. Returns its JSON. */
export async function read(target: Target, ...args: string[]) {
  const output = () => wrangler(target, ...args, '--json');
  return JSON.parse(await output().catch(output));
}

export function readVersion(target: Target, id: string): Promise<Version> {
  return read(target, 'versions', 'view', id);
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

/** As wrangler accepts them, such as `1b4e28ba-…@10% 6fa459ea-…@90%`. */
export function sharesOf({ versions }: Deployment): string {
  const shares = versions.map((each) => `${each.version_id}@${each.percentage}%`);
  return shares.sort().join(' ');
}

export function describe(deployment: Deployment): string {
  const { created_on, author_email = 'somebody' } = deployment;
  return `${created_on} ${author_email} deployed ${sharesOf(deployment)}`;
}

/** Whether a deployment has the id of this run in its message. */
export function isOf(run: string | undefined, { annotations }: Deployment): boolean {
  return run !== undefined && annotations?.['workers/message'] === run;
}

/** The ten newest deployments, the newest first, and the newest one that is not of this run. */
export async function readNewest(target: Target, run?: string) {
  const deployments: Deployment[] = (await read(target, 'deployments', 'list')).reverse();
  const [newest] = deployments;
  const foreign = deployments.find((each) => !isOf(run, each));
  if (newest && foreign) return { deployments, newest, foreign };
  throw new Error('the list of deployments is incomplete');
}
