/** The commands of `npm run release`, and what they return for `--json`. */
import { environmentOfKey } from '../../src/keys/format.ts';
import type { Environment } from '../key-namespace.ts';
import { LOCAL_KEY } from '../local-store.ts';
import { reserveStore } from '../serving.ts';
import { PROJECT_ROOT, runIn } from '../wrangler.ts';
import { messageOf, type Store, waitForVersion } from './client.ts';
import * as cloudflare from './cloudflare.ts';
import { build, committedHead } from './dist.ts';
import { onlyVersion, settledVersion, sharesOf } from './next-step.ts';
import { type Output, pendingMigrations, rollOut } from './rollout.ts';
import { removeTestRows, smokeTest } from './smoke.ts';
import { ENVIRONMENTS, type EnvironmentName, readTarget } from './target.ts';

export function releaseToStaging(output: Output, waitSeconds: number) {
  return withStore('staging', output, async (store) => {
    const commit = await committedHead();
    output.say(`Building commit ${commit}`);
    const release = await build(commit);
    const plan = { release, percentages: [0, 100], settledAs: 'proved', endsOthers: true } as const;
    return rollOut({ target: configured('staging'), plan, store, waitSeconds, ...output });
  });
}

/** Promotes what staging has proved: `approved`, if a commit was, as staging may serve another by now. */
export function promote(output: Output, waitSeconds: number, approved?: string) {
  return withStore('production', output, async (store) => {
    const { deployments, versions } = await cloudflare.readDeployed(configured('staging'));
    const staged = versions.find(({ id }) => id === onlyVersion(deployments.at(-1)));
    // A rollback deploys before it tests, so it proves nothing.
    const isProved = /^settled release: (?:proved|returned)/.test(
      deployments.at(-1)?.message ?? '',
    );
    if (!staged?.release || !isProved) {
      throw new Error('staging serves no release that was proved: npm run release -- staging');
    }
    const { commit, digest } = staged.release;
    if (approved && approved !== commit) {
      throw new Error(`staging serves commit ${commit}, not ${approved}`);
    }
    output.say(`Building commit ${commit}, which staging has proved`);
    const release = await build(commit);
    if (release.digest !== digest) {
      const fix = `install its packages (git checkout ${commit}, npm run setup)`;
      throw new Error(`commit ${commit} does not build to the bytes that staging proved: ${fix}`);
    }
    const percentages = [0, 10, 50, 100];
    const plan = { release, percentages, settledAs: 'promoted', endsOthers: false } as const;
    return rollOut({ target: configured('production'), plan, store, waitSeconds, ...output });
  });
}

export type RollBack = { env: EnvironmentName; unfinished?: true };

/** Returns to a version, by the beginning of its id, or from an unfinished release; with neither it lists them. */
export async function rollBack(output: Output, options: RollBack, version?: string) {
  const { say } = output;
  const { env, unfinished } = options;
  const target = configured(env);
  const deployed = await cloudflare.readDeployed(target);
  const { deployments, versions } = deployed;
  const newest = deployments.at(-1);
  if (unfinished && !newest?.isStep) {
    say('Nothing is unfinished.');
    return { version: onlyVersion(newest) ?? null };
  }
  const wanted = unfinished ? settledVersion(deployed) : version;
  if (unfinished && !wanted) throw new Error('no version to return to is known: name one');
  const candidates = versions.filter(({ id }) => id !== onlyVersion(newest));
  if (!wanted) {
    const settled = deployments.map((each) => (each.isStep ? each.returnTo : onlyVersion(each)));
    say(`${env} serves ${sharesOf(newest)}. Versions, the newest last:`);
    for (const { id, createdOn, release } of candidates) {
      const proof = settled.includes(id) ? 'settled' : 'not known to have been settled';
      say(`  ${id}  of ${createdOn}  commit ${release?.commit ?? 'unknown'}  ${proof}`);
    }
    return { serves: newest?.shares ?? [], versions: candidates };
  }

  const [old, ...others] = candidates.filter(({ id }) => id.startsWith(wanted));
  if (!old || others.length > 0) {
    const list = `npm run release -- rollback --env ${env}`;
    throw new Error(`"${wanted}" is not the id of one version to return to: ${list} lists them`);
  }
  say(`Deploying ${old.id} to all, in place of ${sharesOf(newest)}`);
  await cloudflare.settle(target, old.id, 'rolled back');
  const next = versions.find((each) => each.release && each.createdOn > old.createdOn);
  const restore = next?.release ? cloudflare.restoreCommand(target, next.release.bookmark) : null;
  if (restore) {
    say(`The data stay. To restore those of ${next?.createdOn} and lose all since: ${restore}`);
  }
  const tested = Boolean(process.env.SMOKE_API_KEY) && !old.isPlaceholder;
  if (tested) {
    say('Testing it');
    await withStore(env, output, async (store) => {
      await waitForVersion({ ...store, version: old.id });
      await smokeTest({ ...store, version: old.id });
    });
  } else {
    say(`Not tested. Set SMOKE_API_KEY, and run npm run release -- smoke --env ${env}`);
  }
  return { version: old.id, tested, restore };
}

/** Tests a store as a client. */
export function smoke(output: Output, env: Environment) {
  return withStore(env, output, async (store) => {
    output.say(`Testing ${store.baseUrl}`);
    await smokeTest(store);
    output.say('It passes the smoke test.');
    return { environment: env };
  });
}

/**
 * Runs an action that tests a store, then removes the rows that its tests added.
 *
 * @throws Error when SMOKE_API_KEY does not hold a key of this environment. It does not show the key.
 */
async function withStore<T>(
  environment: Environment,
  { say, signal }: Output,
  action: (store: Store) => Promise<T>,
): Promise<T> {
  const isLocal = environment === 'local';
  const apiKey = process.env.SMOKE_API_KEY || (isLocal ? LOCAL_KEY : '');
  if (environmentOfKey(apiKey) !== environment) {
    const fix = `npm run keys -- create --label "Smoke test" --env ${environment}`;
    throw new Error(`SMOKE_API_KEY must be an API key of ${environment}: ${fix}`);
  }
  const baseUrl = isLocal
    ? `http://localhost:${reserveStore() ?? 8787}/v1`
    : configured(environment).baseUrl;
  try {
    return await action({ environment, baseUrl, apiKey, signal });
  } finally {
    const execute = ['d1', 'execute', 'DB', '--json', '--command'];
    await removeTestRows((sql) => runIn(environment, [...execute, sql])).catch((error) => {
      say(`The next smoke test removes the rows of this one: ${messageOf(error)}`);
    });
  }
}

/** @throws Error naming everything that wrangler.toml lacks. */
function configured(environment: EnvironmentName) {
  const target = readTarget(environment);
  if (target.missing.length > 0) throw new Error(target.missing.join('; '));
  return target;
}

export async function showStatus({ say }: Output) {
  const environments = [];
  for (const name of ENVIRONMENTS) environments.push(await statusOf(name, say));
  const [staging, production] = environments.map(({ release }) => release);
  const behind = staging?.digest !== production?.digest || staging?.commit !== production?.commit;
  say(behind ? 'Production is behind staging.' : 'Production serves what staging serves.');
  return { environments, behind };
}

async function statusOf(environment: EnvironmentName, say: Output['say']) {
  const target = readTarget(environment);
  const { missing } = target;
  let deployed: cloudflare.Deployed = { deployments: [], versions: [] };
  if (missing.length === 0) {
    deployed = await cloudflare.readDeployed(target);
    const pending = await pendingMigrations(target, PROJECT_ROOT).catch(messageOf);
    if (pending.length > 0) missing.push(`migrations: ${pending}`);
  }
  const newest = deployed.deployments.at(-1);
  const serves = (newest?.shares ?? []).map((share) => {
    const version = deployed.versions.find(({ id }) => id === share.version);
    return { ...share, release: version?.release };
  });
  say(`${environment}:${newest ? '' : ' nothing is known to be deployed'}`);
  for (const { version, percentage, release } of serves) {
    say(`  ${percentage} %  version ${version}  commit ${release?.commit ?? 'unknown'}`);
  }
  const unfinished = newest?.isStep ?? false;
  const end = `npm run release -- rollback --unfinished --env ${environment}`;
  if (unfinished) say(`  unfinished: release it again, or ${end}`);
  for (const each of missing) say(`  missing: ${each}`);
  return { environment, serves, unfinished, missing, release: serves.at(-1)?.release };
}
