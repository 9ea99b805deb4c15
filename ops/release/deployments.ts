/** Reads and changes an environment at Cloudflare, its versions and its deployments, with wrangler. */
import { readFile } from 'node:fs/promises';
import * as z from 'zod/mini';
import type { DeployedEnvironment } from '../command/command-line.ts';
import { withTemporaryFile } from '../command/temporary-file.ts';
import { readConfig, runWranglerIn } from '../command/wrangler.ts';
import type { Build } from './checks.ts';

/**
 * Of a version, `workers/tag` is the commit, and `workers/message` the SHA-256 of the script. Of a deployment, `workers/message`
 * is the id of the release.
 */
const Annotations = z._default(z.record(z.string(), z.unknown()), {});
const Version = z.object({
  id: z.string(),
  annotations: Annotations,
  resources: z.object({ bindings: z.array(z.looseObject({ name: z.string() })) }),
});
export type Version = z.infer<typeof Version>;
const Deployment = z.object({
  id: z.string(),
  created_on: z.string(),
  author_email: z.optional(z.string()),
  annotations: Annotations,
  versions: z.array(z.object({ version_id: z.string(), percentage: z.number() })),
});
export type Deployment = z.infer<typeof Deployment>;
const UploadResult = z.object({ version_id: z.string('wrangler names no version') });

/** An environment, as wrangler.toml describes it. */
export type Target = Awaited<ReturnType<typeof readTarget>>;

export async function readTarget(environment: DeployedEnvironment) {
  const { name, account_id: accountId, vars } = await readConfig(environment);
  return { environment, name, accountId, baseUrl: String(vars.BASE_URL) };
}

/** Runs wrangler. Ctrl-C does not end it, because a call that is cut off may still take effect. */
export function wrangler({ environment }: Target, ...args: string[]): Promise<string> {
  return runWranglerIn(environment, args, { detached: true });
}

/** Uploads a build as a version, without deploying it. Returns its id. */
export function uploadVersion({ environment }: Target, build: Build): Promise<string> {
  const annotations = ['--tag', build.commit, '--message', build.sha256];
  // `--strict` refuses a worker that was changed in the dashboard.
  const options = ['--no-bundle', ...annotations, '--strict'];
  return withTemporaryFile(async (path) => {
    await runWranglerIn(environment, ['versions', 'upload', build.scriptPath, ...options], {
      detached: true,
      env: { WRANGLER_OUTPUT_FILE_PATH: path },
    });
    // Each line is JSON, and the last one is the result.
    const lines = (await readFile(path, 'utf8')).trim().split('\n');
    return UploadResult.parse(JSON.parse(lines.at(-1) ?? '')).version_id;
  });
}

/** Runs a command that changes nothing. Returns its JSON. */
export async function readJson<Json>(
  schema: z.ZodMiniType<Json>,
  target: Target,
  ...args: string[]
): Promise<Json> {
  const output = await wrangler(target, ...args, '--json');
  const { success, data } = schema.safeParse(JSON.parse(output));
  if (success) return data;
  throw new Error(`the output of wrangler ${args.join(' ')} is not as expected: ${output}`);
}

export function readVersion(target: Target, id: string): Promise<Version> {
  return readJson(Version, target, 'versions', 'view', id);
}

/**
 * The newest deployment, and the newest one of others, whose message is not `releaseId`. Without `releaseId`, both are the
 * same.
 *
 * @throws Error if none of the ten newest is of others.
 */
export async function readDeployments(target: Target, releaseId = '') {
  // The ten newest, of which wrangler lists the oldest first.
  const list = await readJson(z.array(Deployment), target, 'deployments', 'list');
  const newest = list.at(-1);
  const newestOfOthers = list.findLast(
    ({ annotations }) => annotations['workers/message'] !== releaseId,
  );
  if (newest && newestOfOthers) return { newest, newestOfOthers };
  throw new Error(`${target.environment} has no other deployment among its ten newest`);
}

/** The version that serves all requests, unless the deployment has two. */
export function soleVersion({ versions }: Deployment): string | undefined {
  return versions.length === 1 ? versions[0]?.version_id : undefined;
}

/** @throws Error if the deployment has two versions. */
export function requireOneVersion(deployment: Deployment): string {
  const version = soleVersion(deployment);
  if (version) return version;
  const page = '"Unfinished releases" in docs/operations.md';
  throw new Error(`a release is unfinished: ${describe(deployment)}. ${page}`);
}

/** The versions and their percentages as wrangler accepts them, but sorted to be compared: `1b4e28ba-…@10% 6fa459ea-…@90%`. */
export function sharesOf({ versions }: Deployment): string {
  const shares = versions.map((each) => `${each.version_id}@${each.percentage}%`);
  return shares.sort().join(' ');
}

export function describe(deployment: Deployment): string {
  return `${deployment.created_on} ${deployment.author_email ?? 'somebody'} deployed ${sharesOf(deployment)}`;
}
