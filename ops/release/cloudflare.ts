/** An environment at Cloudflare, through wrangler. Messages of versions and deployments are a release's only state. */
import { join } from 'node:path';
import { unstable_readConfig as readConfig } from 'wrangler';
import { PROJECT_ROOT, runWrangler } from '../wrangler.ts';
import type { Build } from './build.ts';

export type Target = ReturnType<typeof readTarget>;

const hostOf = (route: string | { pattern: string }) =>
  (typeof route === 'string' ? route : route.pattern).split('/', 1)[0];

/** What wrangler.toml has until an environment is set up. */
const UNSET = /"\w+-(account|database|api-keys)-id"|[\w.-]+\.example(?=[/"])/;
const NO_SETTINGS = ['--config', join(import.meta.dirname, 'no-settings.toml'), '--env', ''];

/** An environment as the wrangler.toml of a folder describes it. @throws Error while that has placeholders. */
export function readTarget(environment: 'staging' | 'production', folder = PROJECT_ROOT) {
  const config = join(folder, 'wrangler.toml');
  const read = readConfig({ config, env: environment });
  const { name: worker = '', account_id, d1_databases, kv_namespaces, routes, vars } = read;
  const [host, hosts] = [new URL(String(vars.BASE_URL)).host, (routes ?? []).map(hostOf)];
  const ids = JSON.stringify([account_id, d1_databases, kv_namespaces, routes, vars]);
  const [unset] = UNSET.exec(ids) ?? [];
  if (unset) throw new Error(`wrangler.toml has ${unset}: First set-up in docs/operations.md`);
  const env = { CLOUDFLARE_ACCOUNT_ID: String(account_id) };
  /** The limit is for a hang, which would block a rollback. */
  const run = (args: string[]) =>
    runWrangler(args, { env, timeout: 300_000, killSignal: 'SIGKILL' });
  return {
    environment,
    worker,
    baseUrl: String(vars.BASE_URL),
    /** The host of `BASE_URL`, unless the routes lack it. */
    address: hosts.includes(host) ? host : hosts.join(),
    database: d1_databases[0]?.database_id,
    keys: kv_namespaces[0]?.id,
    /** Runs wrangler on the worker, without any settings. */
    onWorker: (args: string[]) => run([...args, '--name', worker, ...NO_SETTINGS]),
    /** Runs wrangler with the settings, bindings and routes of the folder. */
    withSettings: (args: string[]) => run([...args, '--config', config, '--env', environment]),
  };
}

/** Messages, as wrangler prints them, are this tool's if they are in its format. Others were made by hand. */
type Annotated = { annotations?: { 'workers/message'?: string } };
const messageOf = (made?: Annotated) => made?.annotations?.['workers/message'] ?? '';
const RELEASE = /^commit=(\w{40}) digest=(\w{64})$/;
const NOTE = /^run=(\w{8}) old=([\w-]{36})(?: passed=([\w-]{36}))?$/;

export type Deployment = Annotated & {
  id: string;
  author_email?: string;
  versions: { version_id: string; percentage: number }[];
};

/** The run of a deployment, its version to go back to, and a version that passed its tests. */
export function noteOf(deployment?: Deployment) {
  const [, run, old, passed] = NOTE.exec(messageOf(deployment)) ?? [];
  return run && old ? { run, old, passed } : undefined;
}

/** The ten newest deployments, the newest first. None if the worker does not exist. */
export async function readDeployments(target: Target): Promise<Deployment[]> {
  const output = await target.onWorker(['deployments', 'list', '--json']).catch((error) => {
    if (/\[code: (10007|10090)\]/.test(error.message)) return '[]';
    throw error;
  });
  return JSON.parse(output).reverse();
}

type Binding = { type: string; id?: string; database_id?: string; namespace_id?: string };

/** A version: what it was built from, and the ids of the database and key store that it is bound to. */
export async function readVersion(target: Target, id: string) {
  const output = await target.onWorker(['versions', 'view', id, '--json']);
  const version: Annotated & { resources: { bindings: Binding[] } } = JSON.parse(output);
  const [, commit, digest] = RELEASE.exec(messageOf(version)) ?? [];
  const bound = (wanted: string) => version.resources.bindings.find(({ type }) => type === wanted);
  const database = bound('d1')?.database_id ?? bound('d1')?.id;
  return { id, commit, digest, database, keys: bound('kv_namespace')?.namespace_id };
}

/** Uploads a build with `versions upload`, or `deploy` if there is no worker. Returns the version. */
export async function upload(target: Target, build: Build, command: string[]): Promise<string> {
  const message = `commit=${build.commit} digest=${build.digest}`;
  // Without an id wrangler would create a database or namespace by itself: --no-x-provision.
  const args = [join(build.folder, 'worker/index.js'), '--no-bundle', '--no-x-provision'];
  const output = await target.withSettings([...command, ...args, '--message', message]);
  const [, version] = / Version ID: ([\w-]{36})/.exec(output) ?? [];
  if (!version) throw new Error(`wrangler names no version: ${output}`);
  return version;
}
