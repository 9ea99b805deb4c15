/**
 * A clock for tests: timers run a hundred times as fast, and the time of day stands still or runs as fast as they do.
 * Both stop while a call of a binding is in progress, and advance in small steps, so that no deadline depends on the
 * speed of the machine. The app calls the globals at call time.
 */
const FASTER = 100;
/** The interval in which a timer advances the clock, and the most of it that counts. */
const STEP_MS = 1;
/** Deadlines are this long or longer; the pauses before retries are shorter. */
const SHORTEST_DEADLINE_MS = 500;

const { setTimeout: plainSetTimeout, clearTimeout: plainClearTimeout } = globalThis;
const plainNow = Date.now;

export type Clock = {
  /** Milliseconds from the real time of day to the clock's. */
  ahead?: number | undefined;
  /** Whether the time of day runs from there, as fast as the timers. */
  clockRuns?: boolean | undefined;
};

let startedAt = plainNow();
let clockRuns = false;
let hasDeadlines = true;
let elapsed = 0;
let advancedAt = plainNow();
let inProgress = { calls: 0 };

/** Advances the clock, unless it has stopped. */
function advance(): void {
  const now = plainNow();
  const passed = Math.min(Math.max(now - advancedAt, 0), STEP_MS);
  if (inProgress.calls === 0) elapsed += passed * FASTER;
  advancedAt = now;
}

const handles = new Map<number, ReturnType<typeof plainSetTimeout>>();
let lastTimer = 0;

globalThis.setTimeout = ((callback: () => void, ms = 0) => {
  lastTimer += 1;
  const timer = lastTimer;
  let left = ms;
  let before = elapsed;
  const step = () => {
    advance();
    if (hasDeadlines || ms < SHORTEST_DEADLINE_MS) left -= Math.max(elapsed - before, 0);
    before = elapsed;
    if (left > 0) handles.set(timer, plainSetTimeout(step, STEP_MS));
    else {
      handles.delete(timer);
      callback();
    }
  };
  handles.set(timer, plainSetTimeout(step, STEP_MS));
  return timer;
}) as typeof setTimeout;
globalThis.clearTimeout = ((timer: number) => {
  plainClearTimeout(handles.get(timer));
  handles.delete(timer);
}) as typeof clearTimeout;
Date.now = () => startedAt + (clockRuns ? elapsed : 0);

/** Sets the clock. Without deadlines, timers that are not pauses before retries never end. */
export function setClock(clock: Clock, deadlines = true): void {
  startedAt = plainNow() + (clock.ahead ?? 0);
  clockRuns = clock.clockRuns ?? false;
  hasDeadlines = deadlines;
  elapsed = 0;
  inProgress = { calls: 0 };
}

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
  while (!isReached()) await new Promise<void>((resolve) => plainSetTimeout(resolve, STEP_MS));
}
