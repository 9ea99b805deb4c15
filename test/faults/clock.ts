/**
 * A clock for tests, in small steps: after each real millisecond, a hundred milliseconds have
 * passed, unless a call of a binding is in progress. So a deadline passes soon when a binding
 * hangs, and never because the machine is slow. The time of day stands still. The app calls the
 * globals at call time.
 */
const STEP_MS = 100;

const plainSetTimeout = globalThis.setTimeout;
const plainNow = Date.now;

let timeOfDay = plainNow();
let elapsed = 0;
let steppedAt = plainNow();
let callsInProgress = new Set<object>();

/**
 * Sets the time of day, in milliseconds since 1970; by default the real one. Calls of earlier
 * requests stop the clock no longer: those of a request that the runtime has cancelled never end.
 */
export function setClock(now = plainNow()) {
  timeOfDay = now;
  callsInProgress = new Set();
}

Date.now = () => timeOfDay;

/** Waits for a millisecond, in which the clock makes one step for all timers together. */
async function step() {
  await tick();
  if (callsInProgress.size === 0 && plainNow() !== steppedAt) elapsed += STEP_MS;
  steppedAt = plainNow();
}

const timers = new Set<number>();
let lastTimer = 0;

/** A timer advances the clock itself, step by step, until it is due or cleared. */
globalThis.setTimeout = ((callback: () => void, ms = 0) => {
  lastTimer += 1;
  const timer = lastTimer;
  timers.add(timer);
  const dueAt = elapsed + ms;
  const run = async () => {
    while (elapsed < dueAt && timers.has(timer)) await step();
    if (timers.delete(timer)) callback();
  };
  void run();
  return timer;
}) as never;
globalThis.clearTimeout = ((timer: number) => timers.delete(timer)) as never;

/**
 * Makes a call of a binding. The clock stands still until it ends, because its duration is that of
 * the machine.
 */
export async function callBinding<T>(call: () => Promise<T>) {
  // `setClock` replaces the set.
  const others = callsInProgress;
  others.add(call);
  try {
    return await call();
  } finally {
    others.delete(call);
  }
}

/** Waits for a millisecond of real time. */
export const tick = () => new Promise((resolve) => plainSetTimeout(resolve, 1));
