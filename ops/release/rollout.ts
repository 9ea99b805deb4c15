/** Changes which version is served. Cloudflare's deployments have no precondition, so the list is read around each. */
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { oneLine } from '../command-line.ts';
import { sharesOf } from './checks.ts';
import { type Deployment, type Note, readDeployments, type Target } from './cloudflare.ts';

/** Seconds after each attempt to go back. */
const PAUSES_S = [1, 5, 15];

/** Another operator has deployed: nothing more may be changed. */
class Overtaken extends Error {}

/** A run of this tool on an environment whose newest deployment is `expected`. */
export function startRun(target: Target, expected: Deployment | undefined) {
  const run = randomUUID().slice(0, 8);
  const atStart = expected;

  /** @throws Error when nothing was deployed. @throws Overtaken when another operator has deployed. */
  async function change(note: Omit<Note, 'run'>, send: (...message: string[]) => Promise<string>) {
    rejectOthers((await readDeployments(target))[0]);
    const message = JSON.stringify({ ...note, run });
    const failure: unknown = await send('--yes', '--message', message).catch((error) => error);
    // A command can fail after it took effect: what is deployed is read, not guessed.
    const [newest, previous] = await readDeployments(target);
    if (newest?.id === expected?.id) throw failure;
    if (newest?.note?.run !== run) rejectOthers(newest);
    rejectOthers(previous, newest);
    expected = newest;
  }

  function rejectOthers(found: Deployment | undefined, served = found): void {
    if (found?.id === expected?.id) return;
    const what = `${found?.author_email} has deployed ${sharesOf(found)}`;
    throw new Overtaken(`${what}; ${target.environment} serves ${sharesOf(served)}`);
  }

  const rollBack = (version: string, release: 'failed' | 'rollback', replaces: string) =>
    change({ release, replaces }, (...message) => target.onWorker('rollback', version, ...message));

  return {
    /** Serves a version to all again. It changes no settings. */
    rollBack,
    /** Gives a version a share of the requests, in percent, and the rest to the version before. */
    deploy(version: string, share: number, old: string): Promise<void> {
      console.log(`Deploying ${version} to ${share} % of the requests`);
      const args = ['versions', 'deploy', `${version}@${share}%`];
      const isAll = share === 100;
      return change({ release: isAll ? 'all' : 'share', replaces: old }, (...message) =>
        isAll
          ? target.withSettings([...args, ...message])
          : target.onWorker(...args, `${old}@${100 - share}%`, ...message),
      );
    },
    /** Goes back from a version that failed. Returns what is served. */
    async goBack(old: string, failed: string, cause: unknown): Promise<string> {
      const by_hand = `npx wrangler rollback ${old} --env ${target.environment}`;
      if (cause instanceof Overtaken) return 'nothing more is changed';
      const serves = `${target.environment} serves ${old} to all`;
      if (expected === atStart) return `nothing was deployed: ${serves}`;
      for (const seconds of PAUSES_S) {
        const problem = await rollBack(old, 'failed', failed).catch((error: Error) => error);
        if (!problem) return serves;
        if (problem instanceof Overtaken) return `${problem.message}; nothing more is changed`;
        console.log(`Going back failed: ${oneLine(problem)}`);
        await pause(seconds * 1000);
      }
      return `could not go back: run ${by_hand}, or use the dashboard`;
    },
  };
}
