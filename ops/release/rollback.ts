/** `npm run release -- rollback`: returns to a version that was settled on before, by its name. */
import { apiKeyProblem } from './checkup.ts';
import { login, settle, type Version } from './cloudflare.ts';
import { timeTravelCommand } from './database.ts';
import {
  isSettledOn,
  isUnfinished,
  lookAtServed,
  prove,
  type Served,
  servesAll,
  short,
  stableVersion,
} from './rollout.ts';
import type { Steps } from './steps.ts';
import { type EnvironmentName, missing, readTarget, refuse, type Target } from './target.ts';

/** How many deployments, and versions, Cloudflare lists. */
const LISTED = 10;

/** Without a version lists what can be returned to: `serves`, and `versions`, the newest first. */
export async function rollback(
  steps: Steps,
  environment: EnvironmentName,
  wanted: string | undefined,
) {
  const target = readTarget(environment);
  await steps.look(`check that ${environment} is set up`, () =>
    refuse([...missing(target), wanted === undefined ? undefined : apiKeyProblem(environment)]),
  );
  await steps.look('check the login', login);
  const served = await lookAtServed(target, steps);
  const candidates = candidatesOf(served);
  if (wanted === undefined) {
    steps.say(
      candidates.length > 0 ? 'What can be returned to:' : 'There is nothing to return to.',
    );
    for (const version of candidates) steps.say(`  ${line(version)}`);
    return { serves: served.deployments.at(-1)?.shares ?? [], versions: candidates };
  }

  if (wanted !== '' && servesAll(served.deployments.at(-1))?.startsWith(wanted)) {
    throw new Error(`${environment} serves ${wanted} to all already`);
  }
  const [version, ...others] = candidates.filter(({ id }) => id.startsWith(wanted));
  if (!version || others.length > 0) {
    const what = others.length > 0 ? 'more than one version begins with' : 'no version is';
    throw new Error(
      `${what} "${wanted}"; npm run release -- rollback lists what can be returned to`,
    );
  }
  await steps.take(
    `return to ${line(version)}`,
    () => settle(target, version.id, 'rolled back'),
    undefined,
  );
  await prove({ ...target, version: version.id }, steps);
  return { version: version.id, restore: sayWhatIsNotUndone(target, served, version, steps) };
}

/**
 * Returns from a promotion or a release that was cut short to what was settled on; does nothing when none was.
 * What runs when the command itself was killed.
 */
export async function rollbackUnfinished(steps: Steps, environment: EnvironmentName) {
  const target = readTarget(environment);
  refuse(missing(target));
  await steps.look('check the login', login);
  const served = await lookAtServed(target, steps);
  const stable = stableVersion(served);
  if (!stable || !isUnfinished(served)) {
    steps.say('Nothing is unfinished.');
    return { version: stable ?? null };
  }
  await steps.take(`return to ${stable}`, () => settle(target, stable, 'returned'), undefined);
  return { version: stable };
}

/** The versions that were settled on, and those of before what Cloudflare lists; the newest first. */
function candidatesOf({ deployments, versions }: Served): Version[] {
  const current = servesAll(deployments.at(-1));
  const [oldest] = deployments;
  return versions.toReversed().filter(({ id, createdOn }) => {
    const older = deployments.length === LISTED && oldest && createdOn < oldest.createdOn;
    return id !== current && (isSettledOn(id, deployments) || older);
  });
}

/** Says what stays, and how the data of then would be had back; returns that command. */
function sayWhatIsNotUndone(
  target: Target,
  served: Served,
  version: Version,
  steps: Steps,
): string | null {
  steps.say('Migrations are not undone: older code runs on the newer tables, as they only expand.');
  const bookmark = bookmarkAfter(version, served);
  if (!bookmark) return null;
  const command = timeTravelCommand(target, bookmark);
  steps.say(`To take the data back as well, and lose everything written since:\n  ${command}`);
  return command;
}

/**
 * D1's state before the first release that followed a version, if that is known: from the notes of the
 * deployments; where they do not go back as far, from the version that was uploaded next.
 */
function bookmarkAfter(
  { id, createdOn }: Version,
  { deployments, versions }: Served,
): string | undefined {
  const last = deployments.findLastIndex(
    (deployment) => deployment.settled !== undefined && servesAll(deployment) === id,
  );
  if (last < 0) return versions.find((next) => next.createdOn > createdOn)?.identity?.bookmark;
  const notes = deployments.slice(last + 1).map(({ settled }) => settled ?? '');
  return notes.map((note) => / bookmark=(\S+)/.exec(note)?.[1]).find(Boolean);
}

function line({ id, createdOn, identity }: Version): string {
  return `${id}  of ${createdOn}${identity ? `  commit ${short(identity.commit)}` : ''}`;
}
