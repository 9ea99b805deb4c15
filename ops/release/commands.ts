/** The commands of `npm run release`, and what they return for `--json`. */
import { isDeepStrictEqual } from 'node:util';
import { environmentOfKey } from '../../src/auth/keys/format.ts';
import { oneLine } from '../command-line.ts';
import { reserveStore } from '../local/serving.ts';
import { LOCAL_KEY } from '../local/store.ts';
import type { Environment } from '../wrangler.ts';
import { LOCAL, PROJECT_ROOT, runWrangler } from '../wrangler.ts';
import * as cloudflare from './cloudflare.ts';
import { committedHead, git, withBuild } from './dist.ts';
import * as steps from './next-step.ts';
import { type Output, restore, rollOut } from './rollout.ts';
import { removeTestRows, type Store, smokeTest, waitForVersion } from './smoke.ts';

export function releaseToStaging(output: Output, waitSeconds: number) {
  const target = cloudflare.readTarget('staging');
  return withStore(target, output, async (store) => {
    const commit = await committedHead();
    output.say(`Building commit ${commit}`);
    return withBuild(commit, async (release) => {
      const plan = { release, percentages: [0, 100], endsOthers: true };
      return rollOut({ ...output, ...plan, target, store, waitSeconds });
    });
  });
}

/** Promotes what was tested on staging: `approved`, if a commit was, as staging may serve another by now. */
export function promote(output: Output, waitSeconds: number, approved?: string) {
  const target = cloudflare.readTarget('production');
  return withStore(target, output, async (store) => {
    const staging = cloudflare.readTarget('staging', process.env.CLOUDFLARE_STAGING_API_TOKEN);
    const staged = steps.testedRelease(await cloudflare.readDeployed(staging));
    if (!staged) throw new Error('staging serves no tested release: npm run release -- staging');
    const { commit, digest } = staged;
    if (approved && approved !== commit) throw new Error(`staging now serves ${commit}`);
    output.say(`Building commit ${commit}, which was tested on staging`);
    return withBuild(commit, async (release) => {
      const fix = `check out the commit (git checkout ${commit}, npm run setup)`;
      if (release.digest !== digest) throw new Error(`the build differs from staging's: ${fix}`);
      await git(['diff', '--quiet', commit, '--', 'wrangler.toml']).catch((cause) => {
        throw new Error(`wrangler.toml differs from the commit's: ${fix}`, { cause });
      });
      const plan = { release, percentages: [0, 10, 50, 100], endsOthers: false };
      return rollOut({ ...output, ...plan, target, store, waitSeconds });
    });
  });
}

export type RollBack = { env: cloudflare.EnvironmentName; unfinished?: true; commit?: string };

/** Returns to a version, by the beginning of its id, or from an unfinished release; with neither it lists them. */
export async function rollBack(output: Output, options: RollBack, prefix?: string) {
  const { say } = output;
  const { env, unfinished, commit } = options;
  const target = cloudflare.readTarget(env);
  const deployed = await cloudflare.readDeployed(target, prefix);
  const { deployments, versions } = deployed;
  const newest = deployments.at(-1);
  const settled = steps.settledVersion(deployed);
  const rolledOut = newest?.shares.find(({ version }) => version !== settled)?.version;
  const isOther = commit && versions.find(({ id }) => id === rolledOut)?.release?.commit !== commit;
  if (unfinished && (!newest || steps.isChosen(deployed, newest) || isOther)) {
    say(`No release${commit ? ` of commit ${commit}` : ''} is unfinished: nothing is changed.`);
    return { version: steps.onlyVersion(newest) ?? null };
  }
  const candidates = versions.filter(({ id }) => id !== steps.onlyVersion(newest));
  if (!unfinished && !prefix) {
    const chosen = deployments.filter((each) => steps.isChosen(deployed, each));
    const known = deployments.map(({ returnTo }) => returnTo).concat(chosen.map(steps.onlyVersion));
    say(`${env} serves ${steps.sharesOf(newest)}. Versions, the newest last:`);
    for (const { id, createdOn, release } of candidates) {
      const state = known.includes(id) ? 'settled' : 'not known to have been settled';
      say(`  ${id}  of ${createdOn}  commit ${release?.commit ?? 'unknown'}  ${state}`);
    }
    return { serves: newest?.shares ?? [], versions: candidates };
  }
  const wanted = unfinished ? settled : prefix;
  const fix = `npm run release -- rollback --env ${env} lists versions`;
  if (!wanted) throw new Error(`no settled version is known: ${fix}`);
  const [old, ...others] = candidates.filter(({ id }) => id.startsWith(wanted));
  if (!old || others.length > 0) {
    const problem = 'no version, or more than one, other than the one served begins with';
    throw new Error(`${problem} "${wanted}": ${fix}`);
  }
  const mayReplace = (found: cloudflare.Deployment) => isDeepStrictEqual(found, newest);
  const serves = await restore({ target, say }, old.id, 'rolled back', mayReplace);
  say(`${serves}.`);
  const next = versions.find((each) => each.release && each.createdOn > old.createdOn);
  const command = next?.release && cloudflare.restoreCommand(target, next.release.bookmark);
  const state = `its state of ${next?.createdOn} (later writes are lost)`;
  if (command) say(`To restore the database to ${state}: ${command}`);
  const untested = old.isPlaceholder ? 'it is the placeholder' : keyProblem(env);
  if (untested) {
    say(`Not tested: ${untested}. To test it: npm run release -- smoke --env ${env}`);
  } else {
    await smoke(output, env, old.id).catch((cause) => {
      throw new Error(`${oneLine(cause)}; ${serves}`, { cause });
    });
  }
  return { version: old.id, tested: !untested, restore: command ?? null };
}

/** Tests a store as a client; where a version is given, once that answers. */
export async function smoke(output: Output, env: Environment, version?: string) {
  const target = env === 'local' ? localStore() : cloudflare.readTarget(env);
  return withStore(target, output, async (store) => {
    output.say(`Testing ${store.baseUrl}`);
    if (version) await waitForVersion({ ...store, version });
    await smokeTest(store);
    output.say('The smoke test passed.');
    return { environment: env };
  });
}

/** A store to test, and wrangler for its database. */
type Target = Pick<cloudflare.Target, 'baseUrl' | 'wrangler'> & { environment: Environment };

/** The store that `npm start` serves, on any port. */
function localStore(): Target {
  const port = reserveStore();
  if (port === undefined) throw new Error('no local store is running: start it with npm start');
  const wrangler = (args: string[]) => runWrangler([...args, ...LOCAL]);
  return { environment: 'local', baseUrl: `http://localhost:${port}/v1`, wrangler };
}

/** Runs an action that tests a store, then removes the rows that its tests added. */
async function withStore<T>(
  { environment, baseUrl, wrangler }: Target,
  { say }: Output,
  action: (store: Store) => Promise<T>,
): Promise<T> {
  const problem = keyProblem(environment);
  if (problem) throw new Error(problem);
  try {
    return await action({ environment, baseUrl, apiKey: keyOf(environment) });
  } finally {
    const where = environment === 'local' ? '--local' : '--remote';
    const execute = ['d1', 'execute', 'DB', where, '--json', '--command'];
    await removeTestRows((sql) => wrangler([...execute, sql])).catch((error) => {
      say(`The test's rows remain (${oneLine(error)}). The next smoke test removes them.`);
    });
  }
}

function keyOf(environment: Environment): string {
  return process.env.SMOKE_API_KEY || (environment === 'local' ? LOCAL_KEY : '');
}

/** What is wrong with SMOKE_API_KEY, without showing it. */
function keyProblem(environment: Environment): string | undefined {
  if (environmentOfKey(keyOf(environment)) === environment) return undefined;
  const fix = `npm run keys -- create --label "Smoke test" --env ${environment}`;
  return `SMOKE_API_KEY must be an API key of ${environment}: ${fix}`;
}

export async function showStatus({ say }: Output) {
  const token = process.env.CLOUDFLARE_STAGING_API_TOKEN;
  const environments = [
    await statusOf(cloudflare.readTarget('staging', token), say),
    await statusOf(cloudflare.readTarget('production'), say),
  ];
  const [staging, production] = environments.map(({ serves }) => serves.at(-1)?.release);
  const isSame = staging?.digest === production?.digest && staging?.commit === production?.commit;
  const behind = staging && production ? !isSame : null;
  if (behind !== null) say(`Production is ${behind ? 'behind' : 'up to date with'} staging.`);
  const failures = environments.flatMap(({ failure }) => failure ?? []);
  if (failures.length > 0) throw new Error(failures.join('; '));
  return { environments, behind };
}

async function statusOf(target: cloudflare.Target, say: Output['say']) {
  const { environment } = target;
  const missing: string[] = [];
  let failure: string | undefined;
  let deployed: cloudflare.Deployed = { deployments: [], versions: [] };
  try {
    deployed = await cloudflare.readDeployed(target);
    const pending = await cloudflare.pendingMigrations(target, PROJECT_ROOT);
    if (pending.length > 0) missing.push(`migrations ${pending.join(', ')}`);
  } catch (error) {
    if (error instanceof cloudflare.NotSetUp) missing.push(error.message);
    else failure = `${environment}: ${oneLine(error)}`;
  }
  const newest = deployed.deployments.at(-1);
  const releases = new Map(deployed.versions.map(({ id, release }) => [id, release]));
  const shares = newest?.shares ?? [];
  const serves = shares.map((share) => ({ ...share, release: releases.get(share.version) }));
  say(`${environment}:${newest ? '' : ' nothing is known to be deployed'}`);
  for (const { version, percentage, release } of serves) {
    say(`  ${percentage} %  version ${version}  commit ${release?.commit ?? 'unknown'}`);
  }
  const unfinished = newest !== undefined && !steps.isChosen(deployed, newest);
  if (unfinished) say(`  a release is in progress. ${steps.ending(environment)}`);
  for (const each of missing) say(`  missing: ${each}`);
  return { environment, serves, unfinished, missing, failure };
}
