/** The next step of a release, computed from what is deployed. */
import { type Deployed, type Deployment, SETTLED, type Share, STEP } from './cloudflare.ts';
import type { Release } from './dist.ts';

export type Plan = {
  release: Release;
  /** The shares of the new version, in percent, one after the other. */
  percentages: readonly number[];
  settledAs: 'proved' | 'promoted';
  /** Whether an unfinished roll-out of another release is ended: otherwise it may still be running. */
  endsOthers: boolean;
};

/** What this run has done. */
export type Run = {
  /** The release's version, once it is uploaded, its migrations are applied and its routes attached. */
  version?: string;
  /** The share in percent at which that version has passed its tests. */
  proved?: number;
};

export type Step =
  | { do: 'create worker' }
  | { do: 'prepare' }
  | { do: 'deploy'; shares: Share[]; message: string }
  | { do: 'prove'; version: string; percentage: number }
  | { do: 'finish' }
  | { do: 'refuse'; because: string };

export function nextStep(deployed: Deployed, plan: Plan, run: Run): Step {
  if (deployed.deployments.length === 0) return { do: 'create worker' };
  const newest = deployed.deployments.at(-1);
  const old = settledVersion(deployed);
  if (!newest || !old) {
    const because = `no version to return to is known (${sharesOf(newest)}): choose one with rollback`;
    return { do: 'refuse', because };
  }
  const version = run.version ?? versionOf(deployed, plan.release)?.id;
  const share = newest.shares.find((each) => each.version === version);
  // A step whose version to return to is this release promotes another one.
  if (newest.isStep && (!share || version === old)) {
    if (plan.endsOthers) return deploy(old, 100, old, `${SETTLED}returned`);
    const because = `another release is unfinished (${sharesOf(newest)}): if nobody is running it, end it with rollback --unfinished`;
    return { do: 'refuse', because };
  }
  if (!run.version) return { do: 'prepare' };
  if (share && share.percentage !== run.proved) {
    return { do: 'prove', version: run.version, percentage: share.percentage };
  }
  const next = plan.percentages.find((each) => each > (share?.percentage ?? -1));
  if (next !== undefined) return deploy(run.version, next, old, `${STEP}${next} % return=${old}`);
  if (newest.isSettled) return { do: 'finish' };
  return deploy(run.version, 100, old, `${SETTLED}${plan.settledAs}`);
}

function deploy(version: string, percentage: number, old: string, message: string): Step {
  const rest = percentage < 100 ? [{ version: old, percentage: 100 - percentage }] : [];
  return { do: 'deploy', shares: [{ version, percentage }, ...rest], message };
}

/** The uploaded version of a release, if there is one: of several the deployed one, or the newest. */
export function versionOf({ deployments, versions }: Deployed, { commit, digest }: Release) {
  const uploads = versions.filter(
    ({ release }) => release?.commit === commit && release.digest === digest,
  );
  const shares = deployments.at(-1)?.shares ?? [];
  return uploads.find(({ id }) => shares.some(({ version }) => version === id)) ?? uploads.at(-1);
}

/**
 * The version to return to. A step names it in its message; any other deployment was chosen by an operator and is
 * kept. Steps of version 1.0.0 name none: then it is the last settled version, or else the one with the largest share.
 */
export function settledVersion({ deployments }: Deployed): string | undefined {
  const newest = deployments.at(-1);
  if (!newest?.isStep) return onlyVersion(newest);
  const settled = onlyVersion(deployments.findLast(({ isSettled }) => isSettled));
  const shared = deployments.filter(({ isStep, shares }) => isStep && shares.length > 1);
  const most = shared.flatMap(({ shares }) => shares).findLast(({ percentage }) => percentage > 50);
  return newest.returnTo ?? settled ?? most?.version;
}

/** The version that serves all requests. None if another is deployed at 0 %, because clients can select it by name. */
export function onlyVersion(deployment: Deployment | undefined): string | undefined {
  return deployment?.shares.length === 1 ? deployment.shares[0]?.version : undefined;
}

/** Such as `10 % 1b4e28ba, 90 % 6fa459ea`. */
export function sharesOf(deployment: { shares: Share[] } | undefined): string {
  const inWords = ({ version, percentage }: Share) => `${percentage} % ${version.slice(0, 8)}`;
  return deployment?.shares.map(inWords).join(', ') ?? 'nothing is deployed';
}
