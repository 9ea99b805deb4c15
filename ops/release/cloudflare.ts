/** An environment at Cloudflare, through wrangler. Messages of versions and deployments are a release's only state. */
import { join } from 'node:path';
import { unstable_readConfig as readConfig } from 'wrangler';
import * as z from 'zod';
import { PROJECT_ROOT, runWrangler } from '../wrangler.ts';
import type { Build } from './build.ts';

export type Target = ReturnType<typeof readTarget>;

/** What wrangler.toml has until an environment is set up. */
const UNSET = /"\w+-(account|database|api-keys)-id"|[\w.-]+\.example\b/;
const NO_SETTINGS = join(import.meta.dirname, 'no-settings.toml');

/** An environment as the wrangler.toml of a folder describes it. @throws Error while that has placeholders. */
export function readTarget(environment: 'staging' | 'production', folder = PROJECT_ROOT) {
  const config = join(folder, 'wrangler.toml');
  const read = readConfig({ config, env: environment });
  const { name: worker = '', account_id, d1_databases, kv_namespaces, routes, vars } = read;
  const ids = JSON.stringify([account_id, d1_databases, kv_namespaces, routes, vars]);
  const [unset] = UNSET.exec(ids) ?? [];
  if (unset) throw new Error(`wrangler.toml has ${unset}: First set-up in docs/operations.md`);
  /** The limit is for a hang, which would block a rollback. */
  const run = (args: string[], env = {}) => {
    const access = { CLOUDFLARE_ACCOUNT_ID: String(account_id), ...env };
    return runWrangler(args, { env: access, timeout: 300_000, killSignal: 'SIGKILL' });
  };
  const unsettled = ['--name', worker, '--config', NO_SETTINGS, '--env', ''];
  return {
    environment,
    worker,
    /** Ends in `/v1`. */
    baseUrl: String(vars.BASE_URL),
    routes: JSON.stringify(routes),
    database: d1_databases[0]?.database_id,
    keys: kv_namespaces[0]?.id,
    /** Runs wrangler on the worker, without any settings. */
    onWorker: (args: string[], env = {}) => run([...args, ...unsettled], env),
    /** Runs wrangler with the settings, bindings and routes of the folder. */
    withSettings: (args: string[]) => run([...args, '--config', config, '--env', environment]),
  };
}

/** The JSON in a message. Undefined if this tool did not write it: then it was made by hand. */
const messageOf = <T>(schema: z.ZodType<T>) =>
  z.record(z.string(), z.string()).transform((annotations) => {
    try {
      return schema.parse(JSON.parse(annotations['workers/message'] ?? ''));
    } catch {
      return undefined;
    }
  });

const Release = z.strictObject({ commit: z.string(), digest: z.string() });
const Binding = z.looseObject({ type: z.string() });
const Version = z.object({
  annotations: messageOf(Release).optional(),
  resources: z.object({ bindings: z.array(Binding) }),
});
/** The run, the version to go back to, and the versions whose test results the deployment records. */
const Tested = { passed: z.string().optional(), failed: z.string().optional() };
const Note = z.strictObject({ run: z.string(), old: z.string(), ...Tested });
const Share = z.object({ version_id: z.string(), percentage: z.number() });
const Author = z.string().default('another operator');
const Dated = z.object({ id: z.string(), author_email: Author, versions: z.array(Share) });
export const Deployment = Dated.extend({ annotations: messageOf(Note).optional() }).transform(
  ({ annotations: note, ...deployment }) => ({ ...deployment, note }),
);
export type Deployment = z.infer<typeof Deployment>;

/** Such as `10 % of 1b4e28ba, 90 % of 6fa459ea`. */
export function sharesOf({ versions }: Deployment): string {
  return versions
    .map((each) => `${each.percentage} % of ${each.version_id.slice(0, 8)}`)
    .join(', ');
}

/** The ten newest deployments, the newest first. None if the worker does not exist. */
export async function readDeployments(target: Target, env = {}): Promise<Deployment[]> {
  const text = await target.onWorker(['deployments', 'list', '--json'], env).catch((error) => {
    if (/\[code: (10007|10090)\]/.test(error.message)) return '[]';
    throw error;
  });
  return z.array(Deployment).parse(JSON.parse(text)).reverse();
}

/** A version: what it was built from, and the ids of the database and key store that it is bound to. */
export async function readVersion(target: Target, id: string, env = {}) {
  const text = await target.onWorker(['versions', 'view', id, '--json'], env);
  const { annotations: release, resources } = Version.parse(JSON.parse(text));
  const bound = (wanted: string) => resources.bindings.find(({ type }) => type === wanted);
  const database = bound('d1')?.database_id ?? bound('d1')?.id;
  return { id, release, database, keys: bound('kv_namespace')?.namespace_id };
}

/** Uploads a build with `versions upload`, or `deploy` if there is no worker. Returns the version. */
export async function upload(target: Target, build: Build, command: string[]): Promise<string> {
  const message = JSON.stringify({ commit: build.commit, digest: build.digest });
  // Without an id wrangler would create a database or namespace by itself: --no-x-provision.
  const args = [...command, build.worker, '--no-bundle', '--no-x-provision', '--message', message];
  const output = await target.withSettings(args);
  return z.string().parse(/ Version ID: ([\w-]{36})/.exec(output)?.[1]);
}
