/** `npm run release -- rollback`: returns to a version that was served before, by its name. */
import { apiKeyProblem } from './checkup.ts';
import { type Deployment, deployVersions, login, type Version } from './cloudflare.ts';
import { timeTravelCommand } from './database.ts';
import { lookAtServed, prove, servesAll, short } from './rollout.ts';
import type { Steps } from './steps.ts';
import { type EnvironmentName, missing, readTarget, refuse } from './target.ts';

/** How many deployments Cloudflare lists. */
const LISTED = 10;

/** Without a version lists what can be returned to: `serves`, and `versions`, the newest first. */
export async function rollback(
  steps: Steps,
  environment: EnvironmentName,
  wanted: string | undefined,
) {
  const target = readTarget(environment);
  await steps.look(`check that ${environment} is set up`, () =>
    refuse([...missing(target), wanted && apiKeyProblem(environment)]),
  );
  await steps.look('check the login', login);
  const { deployments, versions } = await lookAtServed(target, steps);
  const current = deployments.at(-1);
  const candidates = versions
    .filter(({ id }) => id !== servesAll(current))
    .filter((version) => hasServedAll(version, deployments))
    .toReversed();
  if (!wanted) {
    steps.say(
      candidates.length > 0 ? 'What can be returned to:' : 'There is nothing to return to.',
    );
    for (const version of candidates) steps.say(`  ${line(version)}`);
    return { serves: current?.shares ?? [], versions: candidates };
  }

  const [version, ...others] = candidates.filter(({ id }) => id.startsWith(wanted));
  if (!version || others.length > 0) {
    const what = others.length > 0 ? 'more than one version begins with' : 'none of them is';
    throw new Error(`${what} ${wanted}; npm run release -- rollback lists what can be returned to`);
  }
  const all = [{ version: version.id, percentage: 100 }];
  await steps.take(
    `return to ${line(version)}`,
    () => deployVersions(target, all, 'rollback'),
    undefined,
  );
  await prove(target, version.id, steps);

  const left =
    current?.shares.map(({ version }) => version).filter((id) => id !== version.id) ?? [];
  const bookmark = versions.find(({ id }) => left.includes(id))?.identity?.bookmark;
  const restore = bookmark && timeTravelCommand(target, bookmark);
  steps.say(
    'Migrations are not undone: older code runs on the newer tables, as they only expand.' +
      (restore
        ? ` To take the data back as well, and lose everything written since:\n  ${restore}`
        : ''),
  );
  return { version: version.id, left, restore: restore ?? null };
}

/** A version that failed before all were served by it is none to return to. */
function hasServedAll({ id, createdOn }: Version, deployments: Deployment[]): boolean {
  if (deployments.some((deployment) => servesAll(deployment) === id)) return true;
  const [oldest] = deployments;
  // Older than what Cloudflare lists: then it is for the operator to know.
  return deployments.length === LISTED && oldest !== undefined && createdOn < oldest.createdOn;
}

function line({ id, createdOn, identity }: Version): string {
  return `${id}  of ${createdOn}${identity ? `  commit ${short(identity.commit)}` : ''}`;
}
