/** What is deployed to an environment, by the documented JSON of wrangler. */
import { readdir } from 'node:fs/promises';
import type { DeployedEnvironment } from './command-line.ts';
import { runWranglerIn } from './wrangler.ts';

/** Runs a command that prints JSON. Ctrl-C does not end it. */
export async function readJson<Json>(
  env: DeployedEnvironment,
  args: string[],
  cwd?: string,
): Promise<Json> {
  return JSON.parse(await runWranglerIn(env, [...args, '--json'], { detached: true, cwd }));
}

type Deployment = { versions: { version_id: string; percentage: number }[] };

/** What the newest deployment serves, sorted, such as `1b4e28ba-…@10% 6fa459ea-…@90%`. */
export async function readShares(env: DeployedEnvironment, cwd?: string): Promise<string> {
  const { versions } = await readJson<Deployment>(env, ['deployments', 'status'], cwd);
  return joinShares(versions.map(({ version_id, percentage }) => `${version_id}@${percentage}%`));
}

export function joinShares(shares: string[]): string {
  return shares.toSorted().join(' ');
}

export type Version = {
  id: string;
  annotations: Record<string, unknown>;
  resources: { bindings: Partial<Record<string, string>>[] };
};

export function readVersion(env: DeployedEnvironment, id: string): Promise<Version> {
  return readJson(env, ['versions', 'view', id]);
}

/** The version that serves all requests. @throws Error if there are two. */
export async function readServedVersion(env: DeployedEnvironment): Promise<Version> {
  const shares = await readShares(env);
  if (shares.includes(' ')) throw new Error(`a release is unfinished: ${env} serves ${shares}`);
  return readVersion(env, shares.replace('@100%', ''));
}

/** The id or text of a binding, empty for a secret. Cloudflare may add other fields to some versions. */
export function identityOf({ resources }: Version, name: string): string | undefined {
  const binding = resources.bindings.find((each) => each.name === name);
  return binding && (binding.id ?? binding.namespace_id ?? binding.text ?? '');
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

/** Wrangler 4.164 exits with 0 also when D1 answers that a statement failed: https://github.com/cloudflare/workers-sdk/issues/3365 */
export async function requireMigrated(env: DeployedEnvironment) {
  const failed = await readPendingMigrations(env);
  if (failed.length > 0) throw new Error(`migrations failed: ${failed}`);
}
