/** A promotion while clients are served: the new version gets its share of the requests step by step. */
import { isDeepStrictEqual } from 'node:util';
import { DIST } from './bundle.ts';
import { apiKey, clientOf } from './checkup.ts';
import { overrideHeader } from './client.ts';
import {
  attachTriggers,
  type Deployment,
  deployShares,
  listDeployments,
  type Share,
  settle,
  uploadVersion,
  type Version,
} from './cloudflare.ts';
import type { Release } from './identity.ts';
import { migrate } from './migrate.ts';
import { answersInWords, probe, untilSpread } from './probes.ts';
import type { Promoted } from './promote.ts';
import {
  orReturn,
  prove,
  type Served,
  SPREAD_LIMIT_MS,
  servesAll,
  sharesInWords,
  takeSmokeTest,
} from './rollout.ts';
import type { Steps } from './steps.ts';
import type { Target } from './target.ts';

/** In percent. At 0 % nobody but the smoke test is served by the new version. */
const SHARES = [10, 50, 100];

export type GradualPromotion = {
  served: Served;
  target: Target;
  /** The version to return to. */
  old: string;
  /** The version of this release, if an earlier promotion has uploaded it. */
  uploaded: Version | undefined;
  release: Release;
  /** How many clients look at each step. */
  probes: number;
  steps: Steps;
};

export async function promoteGradually(promotion: GradualPromotion): Promise<Promoted> {
  const { served, target, old, uploaded, release, probes, steps } = promotion;
  let version = uploaded?.id;
  let bookmark = '';
  const isOwn = ({ step, shares }: Deployment) =>
    step || shares.some((share) => share.version === version);
  await orReturn(target, old, isOwn, steps, async () => {
    const before = await migrate(target, DIST, steps);
    bookmark = unfinishedBookmark(promotion) ?? before;
    let shares: Share[] = served.deployments.at(-1)?.shares ?? [];
    const deploy = async (step: string, next: Share[]) => {
      const expected = shares;
      const action = async () => {
        await refuseOvertaken(target, expected);
        await deployShares(target, next);
      };
      await steps.take(step, action, undefined);
      shares = next;
    };

    if (!isOnTheWay(shares, old, version)) {
      const step = 'return to the old version from a promotion of other bytes';
      await deploy(step, [{ version: old, percentage: 100 }]);
    }
    if (!version) {
      const identity = { ...release, bookmark };
      const upload = () => uploadVersion(target, identity);
      version = await steps.take('upload the version', upload, 'the new version');
    }
    const own = version;
    if (servesAll(served.deployments.at(-1)) === own) {
      steps.say('Production serves these bytes to all already: they are to be proved.');
      await proveShare(target, { version: own, percentage: 100 }, probes, steps);
    } else {
      await deploy('deploy it at 0 %', [
        { version: own, percentage: 0 },
        { version: old, percentage: 100 },
      ]);
      await prove(byName(target, own), steps, 'who asks for it by name');
      for (const percentage of SHARES) {
        const rest = { version: old, percentage: 100 - percentage };
        const all = percentage === 100;
        await deploy(`deploy it at ${percentage} %`, [
          { version: own, percentage },
          ...(all ? [] : [rest]),
        ]);
        await proveShare(target, { version: own, percentage }, probes, steps);
      }
    }
    await steps.take('attach routes and crons', () => attachTriggers(target), undefined);
    await steps.take(
      'note that it is promoted',
      () => settle(target, own, 'promoted', bookmark),
      undefined,
    );
  });
  return { version: version ?? '', previous: old, bookmark };
}

/** D1's state before a promotion that was cut short, whose migrations have run since. */
function unfinishedBookmark({ served, uploaded }: GradualPromotion): string | undefined {
  const settledBefore = served.deployments.some(
    (deployment) => deployment.settled !== undefined && servesAll(deployment) === uploaded?.id,
  );
  return settledBefore ? undefined : uploaded?.identity?.bookmark;
}

/** Whether nothing is deployed but the old version and ours. */
function isOnTheWay(shares: Share[], old: string, ours: string | undefined): boolean {
  return shares.every(({ version }) => version === old || version === ours);
}

/** @throws Error when others have deployed something since the last step. */
async function refuseOvertaken(target: Target, expected: Share[]): Promise<void> {
  const found = (await listDeployments(target)).at(-1);
  const sorted = (shares: Share[] = []) =>
    shares.toSorted((a, b) => a.version.localeCompare(b.version));
  if (isDeepStrictEqual(sorted(found?.shares), sorted(expected))) return;
  throw new Error(`others have deployed meanwhile: ${sharesInWords(found)}`);
}

/** The new version, asked for by name, whatever its share. */
function byName(target: Target, version: string) {
  return { ...target, version, headers: overrideHeader(target.worker, version) };
}

/** Looks at production as clients do, once they are served by the new version at its share. */
async function proveShare(
  target: Target,
  share: Share,
  probes: number,
  steps: Steps,
): Promise<void> {
  const { signal } = steps;
  const client = clientOf(target, signal);
  await steps.take(
    'wait until that has spread',
    () => untilSpread(client, share, probes, SPREAD_LIMIT_MS, signal),
    undefined,
  );
  await takeSmokeTest(byName(target, share.version), steps);
  await steps.take(
    `${probes} probes`,
    () => probe(client, apiKey('production'), share.version, probes, signal),
    {},
    answersInWords,
  );
}
