/**
 * An environment at Cloudflare, through wrangler. The messages of versions and deployments are the only state that a
 * release keeps. https://developers.cloudflare.com/workers/versions-and-deployments/
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { unstable_readConfig as readConfig } from 'wrangler';
import * as z from 'zod';
import { PROJECT_ROOT, runWrangler } from '../wrangler.ts';
import type { Build } from './build.ts';

export const ENVIRONMENTS = ['staging', 'production'] as const;
export type EnvironmentName = (typeof ENVIRONMENTS)[number];
export type Target = ReturnType<typeof readTarget>;

/** What wrangler.toml has until an environment is set up. */
const UNSET = /"\w+-(account|database|api-keys)-id"|[\w.-]+\.example\b/g;
const NO_SETTINGS = join(import.meta.dirname, 'no-settings.toml');

/** An environment as the wrangler.toml of a folder describes it. @throws Error while that has placeholders. */
export function readTarget(environment: EnvironmentName, folder = PROJECT_ROOT, token?: string) {
  const config = join(folder, 'wrangler.toml');
  const read = readConfig({ config, env: environment });
  const { name: worker = '', account_id, d1_databases, kv_namespaces, routes, vars } = read;
  const ids = JSON.stringify([account_id, d1_databases, kv_namespaces, routes, vars]);
  const unset = [...new Set(ids.match(UNSET))].join(', ');
  const fix = `wrangler.toml has placeholders (${unset}): see First set-up in docs/operations.md`;
  if (unset) throw new Error(fix);
  const access = {
    CLOUDFLARE_ACCOUNT_ID: account_id,
    ...(token && { CLOUDFLARE_API_TOKEN: token }),
  };
  // The limit is for a hang, which would block a rollback.
  const run = (args: string[], env = {}) =>
    runWrangler(args, { env: { ...access, ...env }, timeout: 300_000, killSignal: 'SIGKILL' });
  return {
    environment,
    worker,
    /** Ends in `/v1`. */
    baseUrl: String(vars.BASE_URL),
    routes: JSON.stringify(routes),
    database: d1_databases[0]?.database_id,
    keys: kv_namespaces[0]?.id,
    /** Runs wrangler on the worker, without any settings. */
    onWorker: (args: string[]) =>
      run([...args, '--name', worker, '--config', NO_SETTINGS, '--env', '']),
    /** Runs wrangler with the settings, bindings and routes of the folder. */
    withSettings: (args: string[], env = {}) =>
      run([...args, '--config', config, '--env', environment], env),
  };
}

/** The message of a version: what was uploaded. */
const Release = z.strictObject({ commit: z.string(), digest: z.string() });
/** The message of a deployment. */
const Note = z.strictObject({
  /** A share on the way, all requests after the tests, or another version served again. */
  release: z.enum(['share', 'all', 'failed', 'rollback']),
  /** The version served before, or the one that failed. */
  replaces: z.string(),
  run: z.string(),
  /** Whether the version that gets all requests is known to have passed its tests. */
  passed: z.boolean(),
});
export type Note = z.infer<typeof Note>;

const Annotations = z.record(z.string(), z.string()).default({});
/** The JSON of a message. Undefined if this tool did not write it: then it was made by hand. */
function messageOf<T>(schema: z.ZodType<T>, annotations: z.infer<typeof Annotations>) {
  try {
    return schema.parse(JSON.parse(annotations['workers/message'] ?? ''));
  } catch {
    return undefined;
  }
}

const Bindings = z.array(z.looseObject({ type: z.string() }));
export const Version = z
  .object({ annotations: Annotations, resources: z.object({ bindings: Bindings }) })
  .transform(({ annotations, resources: { bindings } }) => {
    const bound = (wanted: string) => bindings.find(({ type }) => type === wanted);
    const database = bound('d1')?.database_id ?? bound('d1')?.id;
    const keys = bound('kv_namespace')?.namespace_id;
    return { release: messageOf(Release, annotations), database, keys };
  });

const Shares = z.array(z.object({ version_id: z.string(), percentage: z.number() }));
const Author = z.string().default('another operator');
export const Deployment = z
  .object({ id: z.string(), author_email: Author, versions: Shares, annotations: Annotations })
  .transform(({ annotations, versions, ...deployment }) => {
    const shares = versions.toSorted((a, b) => a.percentage - b.percentage);
    return { ...deployment, shares, note: messageOf(Note, annotations) };
  });
export type Deployment = z.infer<typeof Deployment>;

/** Such as `10 % of 1b4e28ba, 90 % of 6fa459ea`. */
export function sharesOf(deployment: Deployment | undefined): string {
  const shares = deployment?.shares ?? [];
  return shares.map((each) => `${each.percentage} % of ${each.version_id.slice(0, 8)}`).join(', ');
}

/** The ten newest deployments, the newest first. None if the worker does not exist. */
export async function readDeployments(target: Target): Promise<Deployment[]> {
  const text = await target.onWorker(['deployments', 'list', '--json']).catch((error) => {
    if (/\[code: (10007|10090)\]/.test(error.message)) return '[]';
    throw error;
  });
  return z.array(Deployment).parse(JSON.parse(text)).reverse();
}

/** A version, with the ids of the database and key store that it is bound to. */
export async function readVersion(target: Target, id: string) {
  const text = await target.onWorker(['versions', 'view', id, '--json']);
  return { id, ...Version.parse(JSON.parse(text)) };
}

/** Uploads a build with `versions upload`, or `deploy` if there is no worker. Returns the version. */
export async function upload(target: Target, build: Build, command: string[]): Promise<string> {
  const { commit, digest, folder, worker } = build;
  const message = JSON.stringify({ commit, digest });
  // Without an id wrangler would create a database or namespace by itself: --no-x-provision.
  const args = [...command, worker, '--no-bundle', '--no-x-provision', '--message', message];
  const path = join(folder, 'upload.ndjson');
  await target.withSettings(args, { WRANGLER_OUTPUT_FILE_PATH: path });
  const last = (await readFile(path, 'utf8')).trim().split('\n').at(-1) ?? '';
  return z.object({ version_id: z.string() }).parse(JSON.parse(last)).version_id;
}
