/**
 * The steps of a release command: each is printed as it runs, with its time; a dry run takes none that
 * changes anything; a signal stops before the next one.
 */

import * as z from 'zod';

type Outcome = 'done' | 'would be done' | 'failed';

export type StepReport = { step: string; outcome: Outcome; seconds: number; detail?: string };

export type Steps = {
  readonly dryRun: boolean;
  /** Whether the result is printed as JSON, and what is said is for following it only. */
  readonly json: boolean;
  /** Aborted when the command is told to stop. */
  readonly signal: AbortSignal;
  /** Takes a step that changes nothing, in a dry run too. `detail` says what it found. */
  look<T>(
    step: string,
    action: () => T | Promise<T>,
    detail?: (result: T) => string | undefined,
  ): Promise<T>;
  /** Takes a step that changes something, or needs that; in a dry run only names it, and gives `standIn`. */
  take<T>(
    step: string,
    action: () => Promise<T>,
    standIn: T,
    detail?: (result: T) => string | undefined,
  ): Promise<T>;
  /** From now on no signal stops the steps: what was begun is being undone. */
  shield(): void;
  /** Prints a line that a person should read. */
  say(line: string): void;
};

export type Command<Result> = (steps: Steps) => Promise<Result>;

/**
 * Runs a command. Its steps go to standard output; with `json` to standard error, and standard output gets
 * one object: `ok`, `error`, `dryRun`, `steps`, and what the command returns. The exit code is 1 when a
 * step failed, or the command returns that all is not `ok`, and an `error`.
 */
export async function runCommand<Result extends object>(
  command: Command<Result>,
  { dryRun = false, json = false }: { dryRun?: boolean; json?: boolean },
): Promise<void> {
  const { signal, forget } = untilInterrupted();
  const out = json ? process.stderr : process.stdout;
  const reports: StepReport[] = [];
  let shielded = false;

  async function take<T>(
    step: string,
    action: () => T | Promise<T>,
    detail?: (result: T) => string | undefined,
  ): Promise<T> {
    if (!shielded) signal.throwIfAborted();
    const begun = performance.now();
    const report = (outcome: Outcome, detail?: string) => {
      const seconds = Number(((performance.now() - begun) / 1000).toFixed(1));
      reports.push({ step, outcome, seconds, ...(detail && { detail }) });
      out.write(` ${outcome === 'done' ? '' : `${outcome}, `}${seconds.toFixed(1)} s`);
      out.write(detail ? `: ${detail}\n` : '\n');
    };
    out.write(`${step} …`);
    try {
      const result = await action();
      report('done', detail?.(result));
      return result;
    } catch (error) {
      report('failed');
      throw error;
    }
  }

  const steps: Steps = {
    dryRun,
    json,
    signal,
    look: take,
    async take(step, action, standIn, detail) {
      if (!dryRun) return take(step, action, detail);
      reports.push({ step, outcome: 'would be done', seconds: 0 });
      out.write(`${step} … would be done\n`);
      return standIn;
    },
    shield() {
      shielded = true;
    },
    say: (line) => out.write(`${line}\n`),
  };

  let outcome: { ok: boolean; error?: string };
  try {
    outcome = { ok: true, ...(await command(steps)) };
  } catch (error) {
    outcome = { ok: false, error: inOneLine(error) };
  } finally {
    forget();
  }
  if (!outcome.ok) {
    console.error(`error: ${outcome.error}`);
    process.exitCode = 1;
  }
  if (json) console.log(JSON.stringify({ ...outcome, dryRun, steps: reports }, null, 2));
}

function inOneLine(error: unknown): string {
  const text =
    error instanceof z.ZodError
      ? `wrangler said something that is not understood: ${z.prettifyError(error)}`
      : String(error instanceof Error ? error.message : error);
  return text.replaceAll(/\s+/g, ' ').trim();
}

function untilInterrupted(): { signal: AbortSignal; forget: () => void } {
  const controller = new AbortController();
  const stop = (why: string) => controller.abort(new Error(`interrupted: ${why}`));
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  for (const name of signals) process.on(name, stop);
  // When npm is stopped, the shell between npm and us ends without telling us.
  const parent = process.ppid;
  const watch = setInterval(() => process.ppid === parent || stop('npm was stopped'), 500).unref();
  return {
    signal: controller.signal,
    forget() {
      clearInterval(watch);
      for (const name of signals) process.off(name, stop);
    },
  };
}
