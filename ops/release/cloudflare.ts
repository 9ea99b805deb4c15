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
  const { name: worker = '', account_id, d1_databases, kv_namespaces, routes = [], vars } = read;
  const ids = JSON.stringify([account_id, d1_databases, kv_namespaces, routes, vars]);
  const unset = [...new Set(ids.match(UNSET))].join(', ');
  const fix = `wrangler.toml has placeholders (${unset}): see First set-up in docs/operations.md`;
  if (unset) throw new Error(fix);
  const run = (args: string[], env = {}) =>
    runWrangler(args, {
      env: {
        CLOUDFLARE_ACCOUNT_ID: account_id,
        ...(token && { CLOUDFLARE_API_TOKEN: token }),
        ...env,
      },
      // So that a hang cannot block a rollback.
      timeout: 300_000,
      killSignal: 'SIGKILL',
    });
  const hosts = routes.map((route: string | { pattern: string }) =>
    (typeof route === 'string' ? route : route.pattern).replace(/\/.*/, ''),
  );
  return {
    environment,
    worker,
    /** Ends in `/v1`. */
    baseUrl: String(vars.BASE_URL),
    hosts,
    database: d1_databases[0]?.database_id ?? '',
    keys: kv_namespaces[0]?.id ?? '',
    /** Runs wrangler on the worker, without any settings. */
    onWorker: (...args: string[]) =>
      run([...args, '--name', worker, '--config', NO_SETTINGS, '--env', '']),
    /** Runs wrangler with the settings, bindings and routes of the folder. */
    withSettings: (args: string[], env = {}) =>
      run([...args, '--config', config, '--env', environment], env),
  };
}

/** The message of a version: what was uploaded. `digest` is the SHA-256 of script and assets. */
const Release = z.strictObject({ commit: z.string(), digest: z.string() });
/**
 * The message of a deployment: a `share` on the way, `all` requests after the tests, or a version served again because
 * the release `failed` or by `rollback`. `replaces` is a version: the one served before, or the one that failed.
 */
const Note = z.strictObject({
  release: z.enum(['share', 'all', 'failed', 'rollback']),
  replaces: z.string(),
  run: z.string(),
});
export type Note = z.infer<typeof Note>;

/** The JSON of a message. Undefined if this tool did not write it: then it was made by hand. */
function messageOf<T>(schema: z.ZodType<T>, annotations: Record<string, string>): T | undefined {
  try {
    return schema.parse(JSON.parse(annotations['workers/message'] ?? ''));
  } catch {
    return undefined;
  }
}

const Annotations = z.record(z.string(), z.string()).default({});
const Bindings = z.array(z.looseObject({ type: z.string() }));
export const Version = z
  .object({ annotations: Annotations, resources: z.object({ bindings: Bindings }) })
  .transform(({ annotations, resources: { bindings } }) => {
    const bound = (wanted: string) => bindings.find(({ type }) => type === wanted);
    const database = bound('d1')?.database_id ?? bound('d1')?.id;
    const keys = bound('kv_namespace')?.namespace_id;
    return { release: messageOf(Release, annotations), database, keys };
  });

const Share = z.object({ version_id: z.string(), percentage: z.number() });
export const Deployment = z
  .object({
    id: z.string(),
    author_email: z.string().default('another operator'),
    versions: z.array(Share),
    annotations: Annotations,
  })
  .transform((deployment) => {
    const versions = deployment.versions.toSorted((a, b) => a.percentage - b.percentage);
    return { ...deployment, versions, note: messageOf(Note, deployment.annotations) };
  });
export type Deployment = z.infer<typeof Deployment>;

/** The ten newest deployments, the newest first. None if the worker does not exist. */
export async function readDeployments(target: Target): Promise<Deployment[]> {
  const text = await target.onWorker('deployments', 'list', '--json').catch((error) => {
    // Cloudflare's codes for a worker that does not exist.
    if (/\[code: (10007|10090)\]/.test(error.message)) return '[]';
    throw error;
  });
  return z.array(Deployment).parse(JSON.parse(text)).reverse();
}

/** A version, with the ids of the database and key store that it is bound to. */
export async function readVersion(target: Target, id: string) {
  const text = await target.onWorker('versions', 'view', id, '--json');
  return { id, ...Version.parse(JSON.parse(text)) };
}

/** The names of the migrations that the database has. (`d1 migrations list` would write.) */
export async function readMigrations(target: Target): Promise<string[]> {
  const Results = z.array(z.object({ results: z.array(z.object({ name: z.string() })) }));
  const query = ['--json', '--command', 'SELECT name FROM d1_migrations'];
  const execute = ['d1', 'execute', 'DB', '--remote', ...query];
  const text = await target.withSettings(execute).catch((error) => {
    if (/no such table: d1_migrations/.test(error.message)) return '[]';
    throw error;
  });
  return Results.parse(JSON.parse(text)).flatMap(({ results }) => results.map(({ name }) => name));
}

/** Uploads a build with `versions upload`, or `deploy` if there is no worker. Returns the version. */
export async function upload(target: Target, build: Build, command: string[]): Promise<string> {
  const { commit, digest, folder, worker } = build;
  const message = JSON.stringify({ commit, digest } satisfies z.infer<typeof Release>);
  // Without an id wrangler would create a database or namespace by itself: --no-x-provision.
  const args = [...command, worker, '--no-bundle', '--no-x-provision', '--message', message];
  const path = join(folder, 'upload.ndjson');
  await target.withSettings(args, { WRANGLER_OUTPUT_FILE_PATH: path });
  const last = (await readFile(path, 'utf8')).trim().split('\n').at(-1) ?? '';
  return z.object({ version_id: z.string() }).parse(JSON.parse(last)).version_id;
}
