/** An environment at Cloudflare, its versions and its deployments, through wrangler. */
import { join } from 'node:path';
import { type Unstable_Config as Config, unstable_readConfig as readConfig } from 'wrangler';
import * as z from 'zod/mini';
import type { DeployedEnvironment } from '../command/command-line.ts';
import { PROJECT_ROOT } from '../command/project-root.ts';
import { runWranglerIn } from '../command/wrangler.ts';

/** An environment, as wrangler.toml describes it. */
export type Target = {
  environment: DeployedEnvironment;
  config: Config;
  baseUrl: string;
  /** The values that make it this store and no other, by the name of their binding. */
  bindings: Record<string, string>;
};

const Annotations = z.looseObject({
  /** Of a version: the SHA-256 of its script. Of a deployment: the id of its release. */
  'workers/message': z.optional(z.string()),
  /** Of a version: its commit. */
  'workers/tag': z.optional(z.string()),
});
const Version = z.looseObject({
  id: z.string(),
  annotations: z._default(Annotations, {}),
  resources: z.looseObject({ bindings: z.array(z.looseObject({ name: z.string() })) }),
});
export type Version = z.infer<typeof Version>;
const Deployment = z.looseObject({
  id: z.string(),
  created_on: z.string(),
  author_email: z._default(z.string(), 'somebody'),
  annotations: z._default(Annotations, {}),
  versions: z.array(z.looseObject({ version_id: z.string(), percentage: z.number() })),
});
type Deployment = z.infer<typeof Deployment>;

/** An id that is not set becomes the text `undefined`, which no version has: `requireSameStore` refuses it. */
export function readTarget(environment: DeployedEnvironment): Target {
  const path = join(PROJECT_ROOT, 'wrangler.toml');
  const config: Config = readConfig({ config: path, env: environment });
  const baseUrl = String(config.vars.BASE_URL);
  const database = config.d1_databases.find((each) => each.binding === 'DB');
  const namespace = config.kv_namespaces.find((each) => each.binding === 'API_KEYS');
  const bindings = {
    DB: String(database?.database_id),
    API_KEYS: String(namespace?.id),
    BASE_URL: baseUrl,
  };
  return { environment, config, baseUrl, bindings };
}

/** Ctrl-C does not end wrangler: a call that is cut off may still take effect. The limit is for a hang. */
export function wrangler({ environment }: Target, ...args: string[]): Promise<string> {
  return runWranglerIn(environment, args, { detached: true, timeout: 300_000 });
}

/** Runs a command that changes nothing, and once more if it fails. Returns its JSON. */
export async function readJson<Schema extends z.ZodMiniType>(
  schema: Schema,
  target: Target,
  ...args: string[]
): Promise<z.infer<Schema>> {
  const read = async () => {
    const output = await wrangler(target, ...args, '--json');
    const { success, data } = schema.safeParse(JSON.parse(output));
    if (success) return data;
    throw new Error(`the output of wrangler ${args.join(' ')} is not as expected: ${output}`);
  };
  return read().catch(read);
}

export function readVersion(target: Target, id: string): Promise<Version> {
  return readJson(Version, target, 'versions', 'view', id);
}

/** The deployments of an environment, as a release with this id sees them. */
export async function readDeployments(target: Target, releaseId: string) {
  // The ten newest, of which wrangler lists the oldest first.
  const list = await readJson(z.array(Deployment), target, 'deployments', 'list');
  const newest = list.at(-1);
  if (!newest) throw new Error(`nothing is deployed on ${target.environment}`);
  const isOwn = ({ annotations }: Deployment) => annotations['workers/message'] === releaseId;
  // The newest one that is not of this release, unless all ten are.
  return {
    newest,
    newestOfOthers: list.findLast((each) => !isOwn(each)),
    hasOwn: list.some(isOwn),
  };
}

/** The version that serves all requests of a deployment, unless two share them. */
export function onlyVersionOf(deployment: Deployment | undefined): string | undefined {
  const [first, ...others] = deployment?.versions ?? [];
  return others.length === 0 ? first?.version_id : undefined;
}

/** @throws Error if two versions share the requests. */
export function requireOneVersion({ environment }: Target, deployment?: Deployment): string {
  const version = onlyVersionOf(deployment);
  if (version) return version;
  const found = deployment ? describe(deployment) : 'its ten newest deployments';
  const page = '"Unfinished releases" in docs/operations.md';
  throw new Error(`a release is unfinished on ${environment}: ${found}. ${page}`);
}

/** As wrangler accepts them, such as `1b4e28ba-…@10% 6fa459ea-…@90%`. */
export function sharesOf({ versions }: Deployment): string {
  const shares = versions.map((each) => `${each.version_id}@${each.percentage}%`);
  return shares.sort().join(' ');
}

export function describe(deployment: Deployment): string {
  const { created_on, author_email, annotations } = deployment;
  const message = annotations['workers/message'] ?? 'none';
  return `${created_on} ${author_email} deployed ${sharesOf(deployment)} (message: ${message})`;
}
