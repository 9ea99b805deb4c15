/** Which version is served: what a release may start from, and each change of it. */
import { randomUUID } from 'node:crypto';
import { oneLine } from '../command-line.ts';
import { type Deployment, noteOf, readDeployments, type Target } from './cloudflare.ts';

/** Such as `10 % of 1b4e28ba-…, 90 % of 6fa459ea-…`. */
export function sharesOf({ versions }: Deployment): string {
  return versions.map((each) => `${each.percentage} % of ${each.version_id}`).join(', ');
}

/** The version that serves all requests. @throws Error with the command that ends any other state. */
export function onlyVersion(environment: string, newest?: Deployment): string {
  const command = (args: string) => `npm run release -- ${args} --env ${environment}`;
  if (!newest) throw new Error(`${environment} has no worker: ${command('first')}`);
  const [share, ...others] = newest.versions;
  if (share && others.length === 0) return share.version_id;
  const end = command(noteOf(newest) ? 'rollback unfinished' : 'rollback <version>');
  const state = `${environment} serves ${sharesOf(newest)}: a release is unfinished`;
  throw new Error(`${state}. If nobody is at it: ${end}`);
}

/** Whether one of the listed deployments notes that a version passed its tests. */
export function hasPassed(version: string, deployments: Deployment[]): boolean {
  return deployments.some((each) => noteOf(each)?.passed === version);
}
/** Describes a version without that note. */
export const UNTESTED = 'failed its tests, or is not known to have passed them';

/** The version for a rollback: by its id, the start of it, or the one that an `unfinished` release began with. */
export function rollbackVersion(wanted: string, deployments: Deployment[], force = false): string {
  const isUnfinished = wanted === 'unfinished';
  const [newest, ...others] = deployments[0]?.versions ?? [];
  const note = noteOf(deployments[0]);
  // After the last share, the version is tested once more before it is noted as passed.
  const isFinished = others.length === 0 && (!note || note.passed === newest?.version_id);
  const start = isUnfinished ? ((isFinished ? newest?.version_id : note?.old) ?? '') : wanted;
  const ids = deployments.flatMap(({ versions }) => versions.map((each) => each.version_id));
  const [version = start, ...more] = new Set(ids.filter((id) => id.startsWith(start)));
  if (start.length < 8 || more.length > 0 || version.length < 36)
    throw new Error(`${wanted} must be an id, or 8 or more characters of a recent one`);
  if (force || isUnfinished || hasPassed(version, deployments)) return version;
  throw new Error(`${version} ${UNTESTED}: nothing is changed. --force serves it`);
}

/** What changes only on request: a resource, or routes that lack the host of BASE_URL. */
export const DIFFERENCES = ['database', 'keys', 'address'] as const;
type Bound = Partial<Record<(typeof DIFFERENCES)[number], string | undefined>>;

/** The allowed differences of the next version from the served one. @throws Error that lists others, and the `fix`. */
export function refuseDifferences(served: Bound, next: Bound, fix: string, allowed: string[] = []) {
  const names = DIFFERENCES.filter((name) => served[name] !== next[name]);
  const refused = names.filter((name) => !allowed.includes(name));
  const listed = refused.map((name) => `${name}: served is ${served[name]}, next is ${next[name]}`);
  if (listed.length > 0) throw new Error(`${listed.join('; ')}: nothing is changed. ${fix}`);
  return names;
}

/** Another operator has deployed: nothing more may be changed. */
export class Overtaken extends Error {}

/** Deploys after the listed deployments. `old`: the version to go back to. */
export function start(target: Target, listed: Deployment[], old: string) {
  const run = randomUUID().slice(0, 8);
  // Noted with each deployment, because only ten are listed.
  const passed = hasPassed(old, listed) ? ` passed=${old}` : '';
  let isChanged = false;

  /** The newest deployment. @throws Overtaken if one since the start is another operator's. */
  async function readNewest(): Promise<Deployment | undefined> {
    const deployments = await readDeployments(target);
    const since = deployments.findIndex(({ id }) => id === listed[0]?.id);
    const other = deployments.slice(0, since).find((each) => noteOf(each)?.run !== run);
    const [newest] = deployments;
    if (!newest || !other) return newest;
    const by = `${other.author_email ?? 'somebody'} has deployed ${sharesOf(other)}`;
    const now = `${target.environment} serves ${sharesOf(newest)}, nothing more is changed`;
    throw new Overtaken(`${by}; ${now}`);
  }

  /** Deploys, and notes a version that passed. Deployments have no precondition: the list is read before and after. */
  async function change(args: string[], note = passed, wrangler = target.onWorker): Promise<void> {
    const before = await readNewest();
    isChanged = true;
    const message = ['--yes', '--message', `run=${run} old=${old}${note}`];
    const output = await wrangler([...args, ...message]).catch(oneLine);
    // A command can fail after it took effect: what is deployed is read, not guessed.
    if ((await readNewest())?.id === before?.id) throw new Error(output);
  }

  /** Gives a version a share of the requests, in percent, and the rest to the old one. */
  async function deploy(version: string, share: number): Promise<void> {
    console.log(`Deploying ${version} to ${share} % of the requests`);
    const args = ['versions', 'deploy', `${version}@${share}%`];
    if (share === 100) return change(args, passed, target.withSettings);
    await change([...args, `${old}@${100 - share}%`]);
  }

  /** Notes that the version that serves all requests has passed its tests. */
  const finish = (version: string) =>
    change(['versions', 'deploy', `${version}@100%`], ` passed=${version}`);

  /** Serves the old version to all again. It changes no settings. */
  const rollBack = () => change(['rollback', old]);

  /** Goes back, if anything was deployed. Returns what is served. */
  async function goBack(): Promise<string> {
    if (!isChanged) return 'no version was deployed';
    return rollBack()
      .catch(rollBack)
      .then(() => `${target.environment} serves ${old} to all`)
      .catch((problem: Error) => {
        if (problem instanceof Overtaken) return problem.message;
        return `could not go back: run npx wrangler rollback ${old} --env ${target.environment}, or use the dashboard`;
      });
  }
  return { check: readNewest, deploy, finish, rollBack, goBack };
}
