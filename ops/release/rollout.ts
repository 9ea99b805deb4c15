/** Which version is served: what a release may start from, and each change of it. */
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { oneLine } from '../command-line.ts';
import { type Deployment, readDeployments, sharesOf, type Target } from './cloudflare.ts';

/** The version that serves all requests. @throws Error with the command that ends any other state. */
export function onlyVersion(environment: string, newest?: Deployment): string {
  const command = (args: string) => `npm run release -- ${args} --env ${environment}`;
  if (!newest) throw new Error(`${environment} has no worker: ${command('first')}`);
  const [share, ...others] = newest.versions;
  if (share && others.length === 0) return share.version_id;
  const end = command(newest.note ? 'rollback unfinished' : 'rollback <version>');
  const state = `${environment} serves ${sharesOf(newest)}: a release is unfinished`;
  throw new Error(`${state}. If nobody is at it: ${end}`);
}

export const PASSED = 'passed its tests';
/** Whether a version passed its tests, as far as the listed deployments, the newest first, show. */
export function testResult(version: string, deployments: Deployment[]): string {
  const notes = deployments.map(({ note }) => note);
  const note = notes.find((each) => each?.passed === version || each?.failed === version);
  if (!note) return 'is not known to have passed its tests';
  return note.failed === version ? 'failed its tests' : PASSED;
}

/** What changes only on request: the worker that answers at BASE_URL, a resource, routes that lack its host. */
export const DIFFERENCES = ['worker', 'database', 'keys', 'address'] as const;
type Bound = { worker: string; database: unknown; keys: unknown };
type Next = Bound & { routes: string; baseUrl: string };

/** How a release differs from what is served, other than allowed. */
export function differences(served: Bound, next: Next, allowed: string[]): string[] {
  const { host } = new URL(next.baseUrl);
  const before = { ...served, address: host };
  const after = { ...next, address: next.routes.includes(`"${host}`) ? host : next.routes };
  return DIFFERENCES.filter((name) => before[name] !== after[name] && !allowed.includes(name)).map(
    (name) => `${name}: served is ${before[name]}, the release has ${after[name]}`,
  );
}

/** Another operator has deployed: nothing more may be changed. */
class Overtaken extends Error {}

/** Deploys after the listed deployments. `old`: the version to go back to. */
export function startRun(target: Target, listed: Deployment[], old: string) {
  const run = randomUUID().slice(0, 8);
  // Noted with each deployment, because only ten are listed.
  const passed = testResult(old, listed) === PASSED ? old : undefined;

  /** The newest deployment. @throws Overtaken if one since the start is another operator's. */
  async function readNewest(): Promise<Deployment | undefined> {
    const deployments = await readDeployments(target);
    const since = deployments.slice(
      0,
      deployments.findIndex(({ id }) => id === listed[0]?.id),
    );
    const other = since.find(({ note }) => note?.run !== run);
    const [newest] = deployments;
    if (!newest || !other) return newest;
    const now = `${target.environment} serves ${sharesOf(newest)}, nothing more is changed`;
    throw new Overtaken(`${other.author_email} has deployed ${sharesOf(other)}; ${now}`);
  }

  /** Deployments have no precondition at Cloudflare: the list is read before and after. */
  async function change(args: string[], result: object, wrangler = target.onWorker) {
    const before = await readNewest();
    const message = JSON.stringify({ run, old, passed, ...result });
    const failure = await wrangler([...args, '--yes', '--message', message]).catch(oneLine);
    // A command can fail after it took effect: what is deployed is read, not guessed.
    if ((await readNewest())?.id === before?.id) throw new Error(failure);
  }

  /** Gives a version a share of the requests, in percent, and the rest to the old one. */
  async function deploy(version: string, share: number): Promise<void> {
    console.log(`Deploying ${version} to ${share} % of the requests`);
    const args = ['versions', 'deploy', `${version}@${share}%`];
    if (share === 100) return change(args, { passed: version }, target.withSettings);
    await change([...args, `${old}@${100 - share}%`], {});
  }

  /** Serves the old version to all again, and notes one that failed. It changes no settings. */
  const rollBack = (failed?: string) => change(['rollback', old], { failed });

  /** Goes back from a version that failed, if it was deployed. Returns what is served. */
  async function goBack(failed: string, cause: unknown): Promise<string> {
    if (cause instanceof Overtaken) return '';
    for (const seconds of [5, 0]) {
      try {
        if ((await readNewest())?.id !== listed[0]?.id) await rollBack(failed);
        return `; ${target.environment} serves ${old} to all`;
      } catch (problem) {
        if (problem instanceof Overtaken) return `; ${problem.message}`;
        await pause(seconds * 1000);
      }
    }
    const command = `npx wrangler rollback ${old} --env ${target.environment}`;
    return `; could not go back: run ${command}, or use the dashboard`;
  }
  return { deploy, rollBack, goBack };
}
