/**
 * A clock for tests, in small steps: after each real millisecond, a hundred milliseconds have passed, unless a call of a
 * binding is in progress. So a deadline passes soon when a binding hangs, and never because the machine is slow. The time
 * of day stands still unless `clockRuns`. The app calls the globals at call time.
 */
const STEP_MS = 100;

const plainSetTimeout = globalThis.setTimeout;
const plainNow = Date.now;

export type Clock = {
  /** Milliseconds from the real time of day to the clock's. */
  ahead?: number | undefined;
  /** Whether the time of day runs from there, as fast as the timers. */
  clockRuns?: boolean | undefined;
};

let startedAt = plainNow();
let clockRuns = false;
let elapsed = 0;
let steppedAt = plainNow();
let inProgress = { calls: 0 };

export function setClock(clock: Clock): void {
  startedAt = plainNow() + (clock.ahead ?? 0);
  clockRuns = clock.clockRuns ?? false;
  elapsed = 0;
  inProgress = { calls: 0 };
}

Date.now = () => startedAt + (clockRuns ? elapsed : 0);

/** Waits for a millisecond, in which the clock makes one step for all timers together. */
async function step(): Promise<void> {
  await new Promise((resolve) => plainSetTimeout(resolve, 1));
  if (inProgress.calls === 0 && plainNow() !== steppedAt) elapsed += STEP_MS;
  steppedAt = plainNow();
}

const timers = new Set<number>();
let lastTimer = 0;

globalThis.setTimeout = ((callback: () => void, ms = 0) => {
  lastTimer += 1;
  const timer = lastTimer;
  timers.add(timer);
  const run = async () => {
    for (let left = ms; left > 0 && timers.has(timer); ) {
      const before = elapsed;
      await step();
      left -= Math.max(elapsed - before, 0);
    }
    if (timers.delete(timer)) callback();
  };
  void run();
  return timer;
}) as typeof setTimeout;
globalThis.clearTimeout = ((timer: number) => timers.delete(timer)) as typeof clearTimeout;

/** Makes a call of a binding, for which the clock stops. */
export async function callBinding<T>(call: () => Promise<T>): Promise<T> {
  const counted = inProgress;
  counted.calls += 1;
  try {
    return await call();
  } finally {
    counted.calls -= 1;
  }
}

/**
 * Waits in real time. The runtime ends a request that has no timer of its own and waits for another request, so this
 * asks again and again.
 */
export async function until(isReached: () => boolean): Promise<void> {
  while (!isReached()) await new Promise((resolve) => plainSetTimeout(resolve, 1));
}
