/** The commands of `npm run release`, and what they return for `--json`. */
import { environmentOfKey } from '../../src/keys/format.ts';
import { type Environment, listKeys } from '../key-namespace.ts';
import { LOCAL_KEY } from '../local-store.ts';
import { LOCAL, PROJECT_ROOT, runWrangler } from '../wrangler.ts';
import { keyCommand, messageOf, type Store, waitForVersion } from './client.ts';
import * as cloudflare from './cloudflare.ts';
import { build, committedHead } from './dist.ts';
import { onlyVersion, settledVersion, sharesOf } from './next-step.ts';
import { type Output, pendingMigrations, rollOut } from './rollout.ts';
import { smokeTest } from './smoke.ts';
import { ENVIRONMENTS, type EnvironmentName, missingConfiguration, readTarget } from './target.ts';

export async function releaseToStaging(output: Output, waitSeconds: number) {
  const target = configured('staging');
  const store = storeOf('staging', output.signal);
  const commit = await committedHead();
  output.say(`Building commit ${commit}`);
  const release = await build(commit);
  const plan = { release, percentages: [0, 100], settledAs: 'proved', endsOthers: true } as const;
  const done = await rollOut({ target, plan, store, waitSeconds, ...output });
  output.say(`staging serves ${done.version} to all. Next: npm run release -- promote`);
  return { commit, digest: release.digest, ...done };
}

/** Promotes what staging has proved: `approved`, if a commit was, as staging may serve another by now. */
export async function promote(output: Output, waitSeconds: number, approved?: string) {
  const target = configured('production');
  const store = storeOf('production', output.signal);
  const { deployments, versions } = await cloudflare.readDeployed(configured('staging'));
  const staged = versions.find(({ id }) => id === onlyVersion(deployments.at(-1)));
  if (!staged?.release || !deployments.at(-1)?.isSettled) {
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
  const done = await rollOut({ target, plan, store, waitSeconds, ...output });
  output.say(`production serves ${done.version} to all.`);
  return { commit, digest, ...done };
}

export type RollBack = { env: EnvironmentName; unfinished?: true };

/** Returns to a version, by the beginning of its id, or from an unfinished release; with neither it lists them. */
export async function rollBack({ say, signal }: Output, options: RollBack, version?: string) {
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
  const settled = deployments.map((each) => (each.isStep ? each.returnTo : onlyVersion(each)));
  const candidates = versions
    .filter(({ id }) => id !== onlyVersion(newest))
    .map((version) => ({ ...version, settled: settled.includes(version.id) }));
  if (!wanted) {
    say(`${env} serves ${sharesOf(newest)}. Versions, the newest last:`);
    for (const { id, createdOn, release, settled } of candidates) {
      const proof = settled ? 'settled' : 'not known to have been settled';
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
    const store = { ...storeOf(env, signal), version: old.id };
    await waitForVersion(store);
    await smokeTest(store);
  } else {
    say(`Not tested. Set SMOKE_API_KEY, and run npm run release -- smoke --env ${env}`);
  }
  return { version: old.id, tested, restore };
}

/** Tests a store as a client. */
export async function smoke({ say, signal }: Output, env: Environment, url?: URL) {
  const store = storeOf(env, signal, url);
  say(`Testing ${store.baseUrl}`);
  await smokeTest(store);
  say('It passes the smoke test.');
  return { environment: env };
}

/** @throws Error when SMOKE_API_KEY does not hold a key of this environment. It does not show the key. */
function storeOf(environment: Environment, signal: AbortSignal, url?: URL): Store {
  const isLocal = environment === 'local';
  const apiKey = process.env.SMOKE_API_KEY || (isLocal ? LOCAL_KEY : '');
  if (environmentOfKey(apiKey) !== environment) {
    const fix = keyCommand(environment);
    throw new Error(`SMOKE_API_KEY must be an API key of ${environment}: ${fix}`);
  }
  const known = isLocal ? 'http://localhost:8787/v1' : configured(environment).baseUrl;
  const where = isLocal ? ['--local', ...LOCAL] : ['--remote', '--env', environment];
  const execute = (sql: string) =>
    runWrangler(['d1', 'execute', 'DB', ...where, '--json', '--command', sql]);
  const baseUrl = url ? `${url.origin}/v1` : known;
  return { environment, baseUrl, apiKey, signal, execute };
}

/** @throws Error naming everything that wrangler.toml lacks. */
function configured(environment: EnvironmentName) {
  const target = readTarget(environment);
  const missing = missingConfiguration(target);
  if (missing.length > 0) throw new Error(missing.join('; '));
  return target;
}

export async function showStatus({ say }: Output) {
  const environments = [];
  for (const name of ENVIRONMENTS) environments.push(await statusOf(name, say));
  const [staging, production] = environments.map(({ release }) => release);
  if (!staging) return { environments, behind: null };
  const behind = staging.digest !== production?.digest || staging.commit !== production.commit;
  say(behind ? 'Production is behind staging.' : 'Production serves what staging serves.');
  return { environments, behind };
}

async function statusOf(environment: EnvironmentName, say: Output['say']) {
  const target = readTarget(environment);
  const missing = missingConfiguration(target);
  let deployed: cloudflare.Deployed = { deployments: [], versions: [] };
  if (missing.length === 0) {
    deployed = await cloudflare.readDeployed(target);
    const pending = await pendingMigrations(target, PROJECT_ROOT).catch(messageOf);
    if (pending.length > 0) missing.push(`migrations that have run: ${pending}`);
    const keys = await listKeys(environment).catch(messageOf);
    if (keys.length === 0) missing.push(`API keys: ${keyCommand(environment)}`);
    else if (typeof keys === 'string') missing.push(`API keys that can be listed: ${keys}`);
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
