/** What is deployed to an environment, by the documented JSON of wrangler. */
import { readdir } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import type { DeployedEnvironment } from './command-line.ts';
import { runWranglerIn } from './wrangler.ts';

/** Runs a command that prints JSON. */
export async function readJson<Json>(env: DeployedEnvironment, args: string[]): Promise<Json> {
  return JSON.parse(await runWranglerIn(env, [...args, '--json']));
}

/** What the newest deployment serves, such as `1b4e28ba-…@100%`. */
export async function readShares(env: DeployedEnvironment): Promise<string[]> {
  type Deployment = { versions: { version_id: string; percentage: number }[] };
  const { versions } = await readJson<Deployment>(env, ['deployments', 'status']);
  return versions.map(({ version_id, percentage }) => `${version_id}@${percentage}%`);
}

export type Version = {
  id: string;
  annotations?: Record<string, unknown>;
  resources: { bindings: Partial<Record<string, string>>[] };
};

/**
 * Up to five times: for some seconds after an upload, Cloudflare may answer that the version does
 * not exist (404, 100146).
 */
export async function readVersion(env: DeployedEnvironment, id: string): Promise<Version> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await readJson(env, ['versions', 'view', id]);
    } catch (error) {
      if (tries === 5) throw error;
      await pause(5000);
    }
  }
}

/** The version that serves all requests. A killed release may have left another one, with 0 %. */
export async function readServedVersion(env: DeployedEnvironment): Promise<Version> {
  const shares = await readShares(env);
  const [id] = shares.filter((each) => each.endsWith('@100%')).map((each) => each.split('@')[0]);
  if (id) return readVersion(env, id);
  throw new Error(`two versions share the requests: ${env} serves ${shares.join(' ')}`);
}

/**
 * The id or text of a binding, empty for a secret. Cloudflare may add other fields to some
 * versions.
 */
export function identityOf({ resources }: Version, name: string): string | undefined {
  const binding = resources.bindings.find((each) => each.name === name);
  if (!binding) return undefined;
  return binding.text ?? binding.namespace_id ?? binding.database_id ?? binding.id ?? '';
}

/** The migrations that are not applied. */
export async function readPendingMigrations(env: DeployedEnvironment): Promise<string[]> {
  const query = ['--remote', '--command', 'SELECT name FROM d1_migrations'];
  type Answer = [{ results: { name: string }[] }];
  const [{ results }] = await readJson<Answer>(env, ['d1', 'execute', 'DB', ...query]);
  const applied = results.map(({ name }) => name);
  const files = await readdir('migrations');
  return files.filter((file) => file.endsWith('.sql') && !applied.includes(file)).sort();
}

/**
 * Wrangler 4.164 exits with 0 also when D1 answers that a statement failed:
 * https://github.com/cloudflare/workers-sdk/issues/3365
 */
export async function requireMigrated(env: DeployedEnvironment) {
  const failed = await readPendingMigrations(env);
  if (failed.length > 0) throw new Error(`migrations failed: ${failed}`);
}
