/**
 * `npm run release -- promote`: the bytes that staging proved go to production, step by step; whatever goes
 * wrong on the way, production returns to what it served.
 */
import { configure, DIST, type Manifest, readRelease } from './bundle.ts';
import { apiKey, apiKeyProblem, checkUp } from './checkup.ts';
import { createClient, overrideHeader } from './client.ts';
import {
  attachTriggers,
  type Deployment,
  deployVersions,
  login,
  uploadVersion,
} from './cloudflare.ts';
import { promoteFirst, wasNeverRouted } from './first-promotion.ts';
import { uncommitted } from './git.ts';
import { identify, sameBytes, sameRelease } from './identity.ts';
import { migrate } from './migrate.ts';
import { inWords as answersInWords, probe, untilAnswers, untilSpread } from './probes.ts';
import {
  lookAtServed,
  oldVersion,
  orReturn,
  readServed,
  SPREAD_LIMIT_MS,
  servesAll,
  short,
} from './rollout.ts';
import type { Steps } from './steps.ts';
import { CONFIG, missing, readTarget, refuse, type Target } from './target.ts';

/** In percent. At 0 % nobody but the smoke test is served by the new version. */
const SHARES = [10, 50, 100];

/**
 * @returns what was promoted: `commit`, the SHA-256 of `index.js`, the `version` that production serves, the
 *   `previous` one, and the `bookmark` of the database before.
 */
export async function promote(steps: Steps, probes: number) {
  const target = readTarget('production');
  const manifest = await steps.look(
    'check that production is set up, and dist what was built',
    async () => {
      refuse([...missing(target), await uncommitted(CONFIG), apiKeyProblem('production')]);
      return readRelease();
    },
    ({ commit, 'index.js': index }) => `commit ${commit}, index.js ${index}`,
  );
  await steps.look('check the login', login);
  await steps.look('check that staging serves these bytes, proved', () => refuseUnproved(manifest));
  const { deployments, versions } = await lookAtServed(target, steps);
  if (!steps.dryRun) await configure();
  if (wasNeverRouted(deployments, versions)) return promoteFirst(target, manifest, steps);

  const current = deployments.at(-1);
  const wanted = await identify(manifest, '');
  // A promotion that was cut short has uploaded them already.
  const uploaded = versions.findLast(({ identity }) => sameRelease(identity, wanted));
  const old = oldVersion(deployments, versions, uploaded?.id);
  if (!old) throw new Error('there is no version of production to return to: deploy one by hand');

  let version = uploaded?.id;
  let bookmark = uploaded?.identity?.bookmark;
  await orReturn(target, old, steps, async () => {
    const before = await migrate(target, DIST, steps);
    bookmark ??= before;
    if (version && servesAll(current) === version) {
      steps.say('Production serves these bytes to all already: they are to be proved.');
      await proveShare(target, version, 100, probes, steps);
    } else {
      if (isForeignSplit(current, version)) {
        await share(target, { old }, steps, 'return from an earlier promotion, of other bytes');
      }
      const identity = { ...wanted, bookmark };
      version ??= await steps.take(
        'upload the version',
        () => uploadVersion(target, identity),
        'the new version',
      );
      await share(target, { old, version, percentage: 0 }, steps);
      await proveUnserved(target, version, steps);
      for (const percentage of SHARES) {
        await share(target, { old, version, percentage }, steps);
        await proveShare(target, version, percentage, probes, steps);
      }
    }
    await steps.take('attach routes and crons', () => attachTriggers(target), undefined);
  });
  const { commit, 'index.js': index } = manifest;
  return { commit, 'index.js': index, version, previous: old, bookmark };
}

/** @throws Error when staging does not serve these very bytes, or has not passed its smoke test. */
async function refuseUnproved(manifest: Manifest): Promise<void> {
  const again = 'run npm run release -- staging';
  if (!manifest.staging) throw new Error(`staging did not prove what is in dist: ${again}`);
  const staging = readTarget('staging');
  refuse(missing(staging));
  const { deployments, versions } = await readServed(staging);
  const serving = servesAll(deployments.at(-1));
  const record = versions.find(({ id }) => id === serving)?.identity;
  if (!sameBytes(record, await identify(manifest, ''))) {
    const commit = record ? `commit ${short(record.commit)}` : 'something else';
    throw new Error(
      `staging serves ${commit}, not what is in dist, ${short(manifest.commit)}: ${again}`,
    );
  }
}

/** Whether two versions share the requests of which neither is ours. */
function isForeignSplit(current: Deployment | undefined, ours: string | undefined): boolean {
  return !servesAll(current) && !current?.shares.some(({ version }) => version === ours);
}

/** Gives the new version its share, and the old one the rest. */
async function share(
  target: Target,
  { old, version, percentage = 0 }: { old: string; version?: string; percentage?: number },
  steps: Steps,
  step = `deploy it at ${percentage} %`,
): Promise<void> {
  const shares = [
    ...(version ? [{ version, percentage }] : []),
    ...(percentage < 100 ? [{ version: old, percentage: 100 - percentage }] : []),
  ];
  await steps.take(
    step,
    () => deployVersions(target, shares, `${percentage} % ${version ?? old}`),
    undefined,
  );
}

/** Smoke-tests a version that no client is served by. */
async function proveUnserved(target: Target, version: string, steps: Steps): Promise<void> {
  const { signal } = steps;
  const headers = overrideHeader(target.worker, version);
  const client = createClient({ origin: new URL(target.baseUrl).origin, headers, signal });
  await steps.take(
    'wait until it answers who asks for it by name',
    () => untilAnswers(client, version, SPREAD_LIMIT_MS, signal),
    undefined,
  );
  await steps.take(
    'smoke test of it',
    () => checkUp({ ...target, headers, version }, signal),
    [],
    (checks) => `${checks.length} checks`,
  );
}

/** Looks at production as clients do, once they are served by the new version at its share. */
async function proveShare(
  target: Target,
  version: string,
  percentage: number,
  probes: number,
  steps: Steps,
): Promise<void> {
  const { signal } = steps;
  const client = createClient({ origin: new URL(target.baseUrl).origin, signal });
  await steps.take(
    'wait until that has spread',
    () => untilSpread(client, { version, percentage }, probes, SPREAD_LIMIT_MS, signal),
    undefined,
  );
  await steps.take(
    'smoke test',
    () => checkUp(percentage === 100 ? { ...target, version } : target, signal),
    [],
    (checks) => `${checks.length} checks`,
  );
  await steps.take(
    `${probes} probes`,
    () => probe(client, apiKey('production'), probes),
    {},
    answersInWords,
  );
}
