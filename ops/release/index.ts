/** `npm run release`: to staging, the same bytes to production, and back. See docs/operations.md. */
import { setTimeout as pause } from 'node:timers/promises';
import { type Command, Option } from 'commander';
import { confirm, createProgram, integerFrom, oneLine, onStop, run } from '../command-line.ts';
import { checkKey, smokeTest, waitForVersion } from '../smoke.ts';
import { type Build, buildCommit, describe, git } from './build.ts';
import * as cloudflare from './cloudflare.ts';
import { applyMigrations, checkMigrations } from './migrations.ts';
import * as rollout from './rollout.ts';

/** The options of all commands: each has those that it adds below. `hold` is in seconds. */
type Options = Partial<Record<'yes' | 'force', true>> & {
  env: cloudflare.Target['environment'];
  commit?: string;
  hold: number;
  shares: number[];
  allow?: string[];
};

const env = new Option('--env <name>').choices(['staging', 'production']).makeOptionMandatory();
const yes = new Option('--yes', 'do not ask');
const allow = new Option('--allow <changes...>', 'wanted changes').choices(rollout.DIFFERENCES);
const commit = new Option('--commit <id>', 'refuse if staging serves another commit');
const hold = new Option('--hold <seconds>', 'how long a share is held').default(300);
const shares = new Option('--shares <percent>', 'before 100, such as 1,10').default([10]);
const force = new Option('--force', 'skip the checks of tests, database and KV namespace');
hold.argParser(integerFrom(0, 86_400));
shares.argParser((text) => text.split(',').map(integerFrom(1, 99)));

const stop = new AbortController();
const { signal } = stop;
onStop(() => stop.abort());
const client = { apiKey: process.env.SMOKE_API_KEY ?? '', signal };
const program = createProgram('npm run release --', 'Releases, promotes and rolls back the store.');
command('first', 'Sets up an environment that has no worker.', env, yes).action(first);
command('staging', 'Releases the commit that is checked out.', allow).action((options) =>
  release({ ...options, env: 'staging', shares: [] }),
);
command('promote', 'Releases what staging serves.', commit, hold, shares, allow, yes).action(
  (options) => release({ ...options, env: 'production' }),
);
command('rollback', 'Serves an earlier version to all again.', env, force, yes)
  .argument('<version>', '8 or more characters of its id, or "unfinished"')
  .action(rollback);
command('smoke', 'Tests a store as a client, with SMOKE_API_KEY.', env).action(async ({ env }) => {
  await smokeTest({ ...cloudflare.readTarget(env), ...client });
  console.log('The smoke test passed.');
});
await run(program);

function command(name: string, description: string, ...options: Option[]): Command {
  const added = program.command(name).description(description);
  for (const option of options) added.addOption(option);
  return added;
}

/** Builds what to release: for staging the commit that is checked out, for production what staging serves. */
async function buildRelease({ env, commit: approved }: Options): Promise<Build> {
  if (env === 'staging') {
    const changed = await git('status', '--porcelain', '--untracked-files=all');
    if (changed) throw new Error(`commit or remove these files first: ${oneLine(changed)}`);
    return buildCommit(await git('rev-parse', 'HEAD'));
  }
  const staging = cloudflare.readTarget('staging');
  const deployments = await cloudflare.readDeployments(staging);
  const id = rollout.onlyVersion('staging', deployments[0]);
  const { commit, digest } = await cloudflare.readVersion(staging, id);
  if (!commit || !rollout.hasPassed(id, deployments))
    throw new Error(`staging serves ${id}, which ${rollout.UNTESTED}: npm run release -- staging`);
  if (approved && approved !== commit) throw new Error(`staging now serves ${commit}`);
  const build = await buildCommit(commit);
  if (build.digest === digest) return build;
  throw new Error(`the build differs from staging's: check out ${commit}, run npm ci, and repeat`);
}

/** Sets up an environment that has no worker: migrations, deployment, routes, smoke test. */
async function first(options: Options): Promise<void> {
  const { env, yes } = options;
  const build = await buildRelease(options);
  const target = cloudflare.readTarget(env, build.folder);
  if (!client.apiKey) throw new Error('SMOKE_API_KEY is not set: Release in docs/operations.md');
  const [exists] = await cloudflare.readDeployments(target);
  if (exists) throw new Error(`a worker named ${target.worker} exists: nothing is changed`);
  // Wrangler takes a host name over from another worker without asking.
  const answer = await fetch(target.baseUrl, { redirect: 'manual' }).catch(({ cause }) => cause);
  if (answer?.code !== 'ENOTFOUND')
    throw new Error(`something answers at ${target.baseUrl}: nothing is changed`);
  await confirm(`set up ${env} with commit ${await describe(build.commit)}`, env, yes, signal);
  await applyMigrations(target, build);
  const version = await cloudflare.upload(target, build, ['deploy']);
  // A new address needs a DNS record and a certificate first.
  await smokeTest({ ...target, ...client, version }, 600);
  const deployments = await cloudflare.readDeployments(target);
  await rollout.start(target, deployments, version).finish(version);
  console.log(`${env} serves ${version} at ${target.baseUrl}.`);
}

/** Releases a build gradually: refuses before it changes anything, and goes back if it fails. */
async function release(options: Options): Promise<void> {
  const { env, yes, allow = [] } = options;
  const build = await buildRelease(options);
  const target = cloudflare.readTarget(env, build.folder);
  const store = { ...target, ...client };
  const deployments = await cloudflare.readDeployments(target);
  const old = await cloudflare.readVersion(target, rollout.onlyVersion(env, deployments[0]));
  // Another worker may answer at the address. A rollback of a moment ago may still spread.
  await waitForVersion({ ...store, version: old.id }, 5);
  const served = { ...old, address: new URL(target.baseUrl).host };
  const replaced = rollout.refuseDifferences(served, target, '--allow <name> releases it', allow);
  // The served version may not know a key of the new store. Two databases must not share the requests.
  if (!replaced.includes('keys') || !client.apiKey) await checkKey(store);
  const shares = replaced.some((name) => name !== 'address') ? [] : options.shares;
  const pending = await checkMigrations(target, build, old.commit);
  const next = await describe(build.commit);
  const range = ['--is-ancestor', old.commit ?? build.commit, build.commit];
  const goesBack = ' It goes BACK in history: it lacks what is served.';
  const back = await git('merge-base', ...range).catch(() => goesBack);
  console.log(`${env} serves ${await describe(old.commit)}. The release is ${next}.${back}`);
  await confirm(`release ${next}, with the migrations [${pending}]`, env, yes, signal);

  const steps = rollout.start(target, deployments, old.id);
  let version = '';
  try {
    signal.throwIfAborted();
    if (pending.length > 0) {
      await steps.check();
      await applyMigrations(target, build);
    }
    version = await cloudflare.upload(target, build, ['versions', 'upload']);
    await steps.deploy(version, 0);
    await smokeTest({ ...store, version, override: `${target.worker}="${version}"` });
    for (const share of shares) {
      await steps.deploy(version, share);
      const query = 'status >= 500, count by $workers.scriptVersion.id';
      console.log(`Holding for ${options.hold} s. In Observability compare ${version}: ${query}`);
      const end = Date.now() + options.hold * 1000;
      do {
        await smokeTest(store);
      } while (Date.now() < end && (await pause(10_000, true, { signal })));
      await confirm('give it more requests', env, yes, signal);
    }
    await steps.deploy(version, 100);
    await target.withSettings(['triggers', 'deploy']);
    await smokeTest({ ...store, version });
    await steps.finish(version);
  } catch (cause) {
    if (cause instanceof rollout.Overtaken) throw cause;
    const failure = signal.aborted ? 'interrupted' : oneLine(cause);
    throw new Error(`${failure}; ${await steps.goBack()}`, { cause });
  }
  console.log(`${env} serves ${version} to all.`);
}

/** Serves a version to all again, and tests it. */
async function rollback(wanted: string, { env, yes, force }: Options): Promise<void> {
  const target = cloudflare.readTarget(env);
  const deployments = await cloudflare.readDeployments(target);
  const now = deployments[0] ? rollout.sharesOf(deployments[0]) : 'nothing';
  const version = rollout.rollbackVersion(wanted, deployments, force);
  const [newest, ...others] = deployments[0]?.versions ?? [];
  if (newest?.version_id === version && others.length === 0)
    return console.log(`${env} already serves ${version}.`);
  if (newest && wanted !== 'unfinished' && !force) {
    // A version has its own bindings: an older one may use a database that was replaced.
    const served = await cloudflare.readVersion(target, (others.at(-1) ?? newest).version_id);
    const next = await cloudflare.readVersion(target, version);
    rollout.refuseDifferences(served, next, '--force serves it');
  }
  const untested = rollout.hasPassed(version, deployments) ? '' : `, which ${rollout.UNTESTED},`;
  await confirm(`serve ${version}${untested} in place of ${now}`, env, yes, signal);
  await rollout.start(target, deployments, version).rollBack();
  console.log(`${env} serves ${version}${untested} to all. Data, routes and crons are as before.`);
  if (!client.apiKey) return console.log('Not tested: SMOKE_API_KEY is not set.');
  await smokeTest({ ...target, ...client, version });
}
