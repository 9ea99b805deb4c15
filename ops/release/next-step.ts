/** The next step of a release, computed from what is deployed. */
import { type Deployed, type Deployment, SETTLED, type Share, STEP } from './cloudflare.ts';
import type { Release } from './dist.ts';

/** How many deployments Cloudflare lists. */
const LISTED = 10;

export const RETURNED = `${SETTLED}returned`;
export const ending = (environment: string) =>
  `If nobody is running it: npm run release -- rollback --unfinished --env ${environment}`;

/** `endsOthers`: whether an unfinished roll-out of another release is ended, which may still be running. */
export type Plan = { release: Release; percentages: number[]; endsOthers: boolean };

/** This run, by the id that its steps note, and what it has done. */
export type Run = {
  id: string;
  /** The migrations that have yet to be applied, known once the run is prepared. */
  pending?: string[];
  /** The share in percent at which the release's version has passed its tests. */
  tested?: number;
  /** Whether routes and crons are attached. */
  attached?: boolean;
};

export type Step =
  | { do: 'create worker' | 'prepare' | 'upload' | 'migrate' | 'attach' }
  | { do: 'deploy'; shares: Share[]; message: string }
  | { do: 'test'; version: string; percentage: number }
  | { do: 'finish'; version: string }
  | { do: 'refuse'; because: string };

export function nextStep(deployed: Deployed, plan: Plan, run: Run): Step {
  const { deployments, versions } = deployed;
  const newest = deployments.at(-1);
  if (!newest && versions.length > 0) {
    return refuse('the worker has versions, but no deployment: deploy one with wrangler first');
  }
  // A worker that never had more than untested uploads of version 1.0.0 has no clients.
  const uploads = deployments.filter((each) => isUpload(deployed, each));
  if (!newest || (uploads.length === deployments.length && uploads.length < LISTED)) {
    return { do: 'create worker' };
  }
  const shares = sharesOf(newest);
  const old = settledVersion(deployed);
  if (!old) return refuse(`no version to return to is known (${shares}): choose one with rollback`);
  const version = versionOf(deployed, plan.release)?.id;
  const share = newest.shares.find((each) => each.version === version);
  const isUnfinished = !isChosen(deployed, newest);
  // If the step returns to this release's version, it belongs to another release.
  if (isUnfinished && (!share || version === old)) {
    if (plan.endsOthers) return deployToAll(old, RETURNED);
    return refuse(`another release is in progress (${shares}). ${ending('production')}`);
  }
  if (!run.pending) return { do: 'prepare' };
  if (!version) return { do: 'upload' };
  if (run.pending.length > 0) return { do: 'migrate' };
  // A worker without an address cannot be tested: with the placeholder, or if 1.0.0 was killed before it got routes.
  const isPlaceholder = versions.some((each) => each.id === old && each.isPlaceholder);
  const settled = deployments.findLast((each) => each.isSettled)?.message ?? '';
  const isUnrouted = isPlaceholder || settled.includes(': tested without a route');
  if (!run.attached && isUnrouted) return { do: 'attach' };

  const step = (percentage: number): Step => {
    const rest = percentage < 100 ? [{ version: old, percentage: 100 - percentage }] : [];
    const message = `${STEP}${percentage} % return=${old} run=${run.id}`;
    return { do: 'deploy', shares: [{ version, percentage }, ...rest], message };
  };
  // A run deploys the shares that it resumes again, as its own. If the earlier run is still running, it stops then.
  if (share && isUnfinished && newest.run !== run.id) return step(share.percentage);
  if (share && share.percentage !== run.tested) {
    return { do: 'test', version, percentage: share.percentage };
  }
  const next = plan.percentages.find((each) => each > (share?.percentage ?? -1));
  if (next !== undefined) return step(next);
  if (!run.attached) return { do: 'attach' };
  if (testedRelease(deployed)) return { do: 'finish', version };
  return deployToAll(version, `${SETTLED}tested run=${run.id}`);
}

const refuse = (because: string): Step => ({ do: 'refuse', because });

function deployToAll(version: string, message: string): Step {
  return { do: 'deploy', shares: [{ version, percentage: 100 }], message };
}

/** The uploaded version of a release, if there is one: of several the deployed one, or the newest. */
export function versionOf({ deployments, versions }: Deployed, { commit, digest }: Release) {
  const uploads = versions.filter(
    ({ release }) => release?.commit === commit && release.digest === digest,
  );
  const shares = deployments.at(-1)?.shares ?? [];
  return uploads.find(({ id }) => shares.some(({ version }) => version === id)) ?? uploads.at(-1);
}

/** The version to return to. If only steps of version 1.0.0 are listed, which do not name it: the largest share. */
export function settledVersion(deployed: Deployed): string | undefined {
  const { deployments } = deployed;
  const chosen = deployments.findLast((each) => isChosen(deployed, each));
  const shares = deployments
    .filter((each) => each.shares.length > 1)
    .flatMap((each) => each.shares);
  const largest = shares.findLast(({ percentage }) => percentage > 50)?.version;
  return deployments.at(-1)?.returnTo ?? (chosen ? onlyVersion(chosen) : largest);
}

/** Whether a deployment is to stay, as settled or made by an operator: otherwise a roll-out is unfinished. */
export function isChosen(deployed: Deployed, deployment: Deployment): boolean {
  return !deployment.isStep && !isUpload(deployed, deployment);
}

/** Whether version 1.0.0 deployed it untested. The deployment that created the worker has no message: its version has. */
function isUpload({ deployments, versions }: Deployed, deployment: Deployment): boolean {
  const isFirst = deployment === deployments[0] && deployments.length < LISTED;
  const version = versions.find(({ id }) => id === onlyVersion(deployment));
  return deployment.isUpload || (isFirst && deployment.message === '' && !!version?.release);
}

/** The version that serves all requests. None if another is deployed at 0 %, because clients can select it by name. */
export function onlyVersion(deployment: Deployment | undefined): string | undefined {
  return deployment?.shares.length === 1 ? deployment.shares[0]?.version : undefined;
}

/** The release that is served, if it is settled and has passed its tests, now or before a rollback to it. */
export function testedRelease({ deployments, versions }: Deployed): Release | undefined {
  const newest = deployments.at(-1);
  const served = newest?.isSettled ? onlyVersion(newest) : undefined;
  const tested = deployments.filter(({ isTested }) => isTested).map(onlyVersion);
  return versions.find(({ id }) => id === served && tested.includes(id))?.release;
}

/** Such as `10 % 1b4e28ba, 90 % 6fa459ea`. */
export function sharesOf(deployment: { shares: Share[] } | undefined): string {
  const inWords = ({ version, percentage }: Share) => `${percentage} % ${version.slice(0, 8)}`;
  return deployment?.shares.map(inWords).join(', ') ?? 'nothing is deployed';
}
