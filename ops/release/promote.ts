/**
 * `npm run release -- promote`: the bytes that staging proved go to production, step by step; whatever goes
 * wrong on the way, production returns to what it served.
 */
import { configure, type Manifest, readRelease } from './bundle.ts';
import { apiKey, apiKeyProblem, clientOf } from './checkup.ts';
import { attachTriggers, login, settle } from './cloudflare.ts';
import { isFirst, promoteFirst, UNROUTED } from './first-promotion.ts';
import { uncommitted } from './git.ts';
import { promoteGradually } from './gradual-promotion.ts';
import { identify, type Release, sameBytes, sameRelease } from './identity.ts';
import {
  ADDRESS_LIMIT_MS,
  lastSettled,
  lookAtServed,
  prove,
  readServed,
  type Served,
  servesAll,
  short,
  stableVersion,
} from './rollout.ts';
import type { Steps } from './steps.ts';
import { CONFIG, missing, readTarget, refuse, type Target } from './target.ts';

/**
 * @returns what was promoted: `commit`, the SHA-256 of `index.js`, the `version` that production serves, the
 *   `previous` one (`null`: there was none), and the `bookmark` of the database before.
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
  const release = await identify(manifest);
  await steps.look('check that staging serves these bytes, proved', () =>
    refuseUnproved(manifest, release),
  );
  const served = await lookAtServed(target, steps);
  if (!steps.dryRun) await configure();
  const promoted = await promoteFrom(served, target, release, probes, steps);
  return { commit: manifest.commit, 'index.js': manifest['index.js'], ...promoted };
}

export type Promoted = { version: string; previous: string | null; bookmark: string | null };

async function promoteFrom(
  served: Served,
  target: Target,
  release: Release,
  probes: number,
  steps: Steps,
): Promise<Promoted> {
  if (isFirst(served)) return promoteFirst(target, release, steps);
  const old = stableVersion(served);
  if (!old) {
    throw new Error(
      'production is shared by versions that were deployed by other means: deploy one of them to all first',
    );
  }
  // A first promotion that was cut short has a tested version, which nobody can reach yet.
  if (lastSettled(served.deployments)?.settled?.startsWith(UNROUTED)) await attach(target, steps);
  await steps.look('check that the smoke test’s key works', () => refuseDeadKey(target, steps));
  const uploaded = served.versions.findLast(({ identity }) => sameRelease(identity, release));
  if (uploaded?.id === old) return keep(served, target, old, steps);
  return promoteGradually({ served, target, old, uploaded, release, probes, steps });
}

/** Production has these bytes: what is left to do is done again, and harms nothing. */
async function keep(
  { deployments }: Served,
  target: Target,
  version: string,
  steps: Steps,
): Promise<Promoted> {
  steps.say('Production has settled on these bytes already.');
  if (deployments.at(-1)?.step) {
    await steps.take(
      'return to them from a promotion that was cut short',
      () => settle(target, version, 'returned'),
      undefined,
    );
  }
  await attach(target, steps);
  await prove({ ...target, version }, steps, undefined, ADDRESS_LIMIT_MS);
  return { version, previous: null, bookmark: null };
}

function attach(target: Target, steps: Steps): Promise<void> {
  return steps.take('attach routes and crons', () => attachTriggers(target), undefined);
}

/** @throws Error when staging does not serve these very bytes, or has not settled on them. */
async function refuseUnproved(manifest: Manifest, release: Release): Promise<void> {
  const again = 'run npm run release -- staging';
  if (!manifest.staging) throw new Error(`staging did not prove what is in dist: ${again}`);
  const staging = readTarget('staging');
  refuse(missing(staging));
  const { deployments, versions } = await readServed(staging);
  const newest = deployments.at(-1);
  const serving = versions.find(({ id }) => id === servesAll(newest));
  // That very version, or one of the same bytes that was proved as well.
  const isProved = serving?.id === manifest.staging.version || newest?.settled !== undefined;
  if (isProved && sameBytes(serving?.identity, release)) return;
  const commit = serving?.identity ? `commit ${short(serving.identity.commit)}` : 'something else';
  const proved = isProved ? '' : ', unproved';
  throw new Error(
    `staging serves ${commit}${proved}, dist is of commit ${short(manifest.commit)}: ${again}`,
  );
}

/** What else is wrong with production is no reason not to promote what mends it. */
async function refuseDeadKey(target: Target, { signal }: Steps): Promise<void> {
  const headers = { Authorization: `Bearer ${apiKey('production')}` };
  const answer = await clientOf(target, signal)
    .send('/v1/pets?limit=1', { headers })
    .catch(() => undefined);
  if (answer?.status === 401) throw new Error('production refuses the key in SMOKE_API_KEY');
}
