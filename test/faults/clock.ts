/**
 * A clock for tests: timers run a hundred times as fast, and the time of day stands still or runs as fast as they do.
 * Both stop while a call of a binding is in progress, and advance in small steps, so that no deadline depends on the
 * speed of the machine. The app calls the globals at call time.
 */
const FASTER = 100;
/** The interval in which a timer advances the clock, and the most of it that counts. */
const STEP_MS = 1;

const { setTimeout: plainSetTimeout, clearTimeout: plainClearTimeout } = globalThis;
const plainNow = Date.now;

let startedAt = plainNow();
let isRunning = false;
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
    left -= Math.max(elapsed - before, 0);
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
Date.now = () => startedAt + (isRunning ? elapsed : 0);

/** Sets the time of day to `ahead` milliseconds after the real one. */
export function setClock(ahead: number, runs: boolean): void {
  startedAt = plainNow() + ahead;
  isRunning = runs;
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
