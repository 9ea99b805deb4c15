/** Changes which version is served. Cloudflare's deployments have no precondition, so the list is read around each. */
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { oneLine } from '../command-line.ts';
import { PASSED, testResult } from './checks.ts';
import {
  type Deployment,
  type Note,
  readDeployments,
  sharesOf,
  type Target,
} from './cloudflare.ts';

/** Another operator has deployed: nothing more may be changed. */
class Overtaken extends Error {}

/** A run of this tool on an environment whose newest deployment is `start`. */
export function startRun(target: Target, start: Deployment | undefined) {
  const run = randomUUID().slice(0, 8);
  const overtaken = (by: Deployment | undefined, served: Deployment | undefined) => {
    const now = `${target.environment} serves ${sharesOf(served)}, nothing more is changed`;
    return new Overtaken(`${by?.author_email} has deployed ${sharesOf(by)}; ${now}`);
  };

  /** @throws Error when nothing was deployed. @throws Overtaken when another operator has deployed. */
  async function change(
    args: string[],
    note: Omit<Note, 'run' | 'passed'>,
    wrangler = target.onWorker,
  ) {
    const listed = await readDeployments(target);
    const [before] = listed;
    if (before?.id !== start?.id && before?.note?.run !== run) throw overtaken(before, before);
    const again = note.release !== 'share' && testResult(args[1] ?? '', listed) === PASSED;
    const message = JSON.stringify({ ...note, run, passed: note.release === 'all' || again });
    const failure = await wrangler([...args, '--yes', '--message', message]).catch(oneLine);
    // A command can fail after it took effect: what is deployed is read, not guessed.
    const [newest, previous] = await readDeployments(target);
    if (newest?.id === before?.id) throw new Error(failure);
    if (newest?.note?.run !== run) throw overtaken(newest, newest);
    if (previous?.id !== before?.id) throw overtaken(previous, newest);
  }

  /** Gives a version a share of the requests, in percent, and the rest to the version before. */
  function deploy(version: string, share: number, old: string): Promise<void> {
    console.log(`Deploying ${version} to ${share} % of the requests`);
    const args = ['versions', 'deploy', `${version}@${share}%`];
    if (share === 100) return change(args, { release: 'all', replaces: old }, target.withSettings);
    return change([...args, `${old}@${100 - share}%`], { release: 'share', replaces: old });
  }

  /** Serves a version to all again. It changes no settings. */
  const rollBack = (version: string, release: 'failed' | 'rollback', replaces: string) =>
    change(['rollback', version], { release, replaces });

  /** Goes back from a version that failed, if it was deployed. Returns what is served. */
  async function goBack(old: string, failed: string, cause: unknown): Promise<string> {
    if (cause instanceof Overtaken) return '';
    for (const seconds of [1, 5, 15]) {
      try {
        const [newest] = await readDeployments(target);
        if (newest?.id !== start?.id) await rollBack(old, 'failed', failed);
        return `; ${target.environment} serves ${old} to all`;
      } catch (problem) {
        if (problem instanceof Overtaken) return `; ${problem.message}`;
        console.log(`Going back failed: ${oneLine(problem)}`);
        await pause(seconds * 1000);
      }
    }
    const command = `npx wrangler rollback ${old} --env ${target.environment}`;
    return `; could not go back: run ${command}, or use the dashboard`;
  }

  return { deploy, rollBack, goBack };
}
