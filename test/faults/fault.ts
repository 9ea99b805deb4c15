/** The faults of one call of KV, of a rate limiter or of D1, and the calls that wait for the test. */
import { callBinding, setClock, until } from './clock.ts';

export type Fault =
  | 'works'
  | 'is busy' // it throws SQLite's error
  | 'throws' // before the call takes effect
  | 'throws late' // the same after three seconds
  | 'loses the response' // the call takes effect, then throws
  | 'runs late' // the call throws, and takes effect when the test releases it
  | 'is held' // the call takes effect, and returns when the test releases it
  | 'is held, then throws'
  | 'is held past the deadline' // as `is held`, while the clock runs
  | 'is slow' // a second and a half
  | 'is slower' // four seconds
  | 'hangs'
  | 'runs, then hangs' // the call takes effect, and never returns
  | { text: string } // it throws with this message
  | { ahead: number }; // it works, and sets the time of day this many milliseconds ahead

/** What a call needs of its request. */
export type Caller = {
  /** The message of `throws`. */
  lost: string;
  /** Runs a call, when it is its turn. */
  run<T>(call: () => Promise<T>): Promise<T>;
  /** Runs a call whose caller has received an error. */
  runLate(call: () => Promise<unknown>): void;
};

/** The calls that wait until the test releases them. */
let held = { count: 0, late: 0, isReleased: false };

export const heldCalls = (): number => held.count;

/** Releases the calls, and the next ones wait again. */
export function releaseHeld(): void {
  held.isReleased = true;
  held = { count: 0, late: 0, isReleased: false };
}

/** Releases the calls, and waits until the late ones have run. */
export async function finishHeld(): Promise<void> {
  held.isReleased = true;
  await until(() => held.late === 0);
  releaseHeld();
}

/** Waits for the test. */
async function released(): Promise<void> {
  const own = held;
  own.count += 1;
  await until(() => own.isReleased);
  own.count -= 1;
}

/** Makes a call after the test has released it. */
export async function makeLate(call: () => Promise<unknown>): Promise<void> {
  const own = held;
  own.late += 1;
  await until(() => own.isReleased);
  await call();
  own.late -= 1;
}

const never = () => new Promise<never>(() => {});
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Makes a call with a fault. */
export async function callWith<T>(fault: Fault, call: () => Promise<T>, by: Caller): Promise<T> {
  const run = () => by.run(() => callBinding(call));
  const fail = async (message = by.lost): Promise<never> => {
    throw new Error(message);
  };
  if (typeof fault === 'object') {
    if ('text' in fault) return fail(fault.text);
    setClock({ ahead: fault.ahead });
    return run();
  }
  switch (fault) {
    case 'works':
      return run();
    case 'is busy':
      return fail('D1_ERROR: database is locked: SQLITE_BUSY');
    case 'throws':
      return by.run(fail);
    case 'throws late':
      return pause(3_000).then(() => fail());
    case 'loses the response':
      return run().then(() => fail());
    case 'runs late':
      by.runLate(call);
      return by.run(fail);
    case 'is slow':
      return pause(1_500).then(run);
    case 'is slower':
      return pause(4_000).then(run);
    case 'hangs':
      return never();
    case 'runs, then hangs':
      return run().then(never);
  }
  const result = await run();
  await (fault === 'is held past the deadline' ? released() : callBinding(released));
  return fault === 'is held, then throws' ? fail() : result;
}
