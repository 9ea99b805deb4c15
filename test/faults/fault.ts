/** The faults of one call of KV, of a rate limiter or of D1, and the calls that wait for the test. */
import { callBinding, setClock, until } from './clock.ts';

export type Fault =
  | 'works'
  | 'throws' // before the call takes effect
  | 'loses the response' // the call takes effect, then throws
  | 'runs late' // the call throws, and takes effect later
  | 'runs a late call too' // after its own effect, another call that runs late takes effect
  | 'is held' // the call takes effect, and returns when the test releases it
  | 'is held, then throws'
  | 'hangs'
  | 'runs, then hangs' // the call takes effect, and never returns
  | { text: string; thrown?: 'TypeError' | 'RangeError' } // it throws with this message
  | { takes: number } // milliseconds
  | { meta: object } // D1 reports this beside its result
  | { ahead: number }; // it works, and sets the time of day this many milliseconds ahead

type Call = () => Promise<unknown>;

/** The calls that wait until the test releases them. */
let held = { count: 0, isReleased: false };
/** The calls whose callers have received an error, and that have not taken effect yet. */
let late: Call[] = [];

export const heldCalls = (): number => held.count;

/** Releases the held calls. The next ones wait again. */
export function releaseHeld(): void {
  held.isReleased = true;
  held = { count: 0, isReleased: false };
}

/** Runs the late calls, one after another. */
export async function runLateCalls(): Promise<void> {
  while (late.length > 0) await late.shift()?.();
}

export function forgetLateCalls(): void {
  late = [];
}

/** Waits for the test. */
async function released(): Promise<void> {
  const own = held;
  own.count += 1;
  await until(() => own.isReleased);
  own.count -= 1;
}

const never = () => new Promise<never>(() => {});
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Makes a call with a fault. `lost` is the message of `throws`. */
export async function callWith(fault: Fault, call: Call, lost: string): Promise<unknown> {
  const run = () => callBinding(call);
  const fail = (message = lost, Thrown: ErrorConstructor = Error): never => {
    throw new Thrown(message);
  };
  if (typeof fault === 'object') {
    if ('text' in fault) return fail(fault.text, globalThis[fault.thrown ?? 'Error']);
    if ('takes' in fault) return pause(fault.takes).then(run);
    if ('meta' in fault) return run().then((result) => withMeta(result, fault.meta));
    setClock({ ahead: fault.ahead });
    return run();
  }
  switch (fault) {
    case 'works':
      return run();
    case 'throws':
      return fail();
    case 'loses the response':
      return run().then(() => fail());
    case 'runs late':
      late.push(call);
      return fail();
    case 'runs a late call too': {
      const result = await run();
      await late.shift()?.();
      return result;
    }
    case 'hangs':
      return never();
    case 'runs, then hangs':
      return run().then(never);
  }
  const result = await run();
  await callBinding(released);
  return fault === 'is held, then throws' ? fail() : result;
}

function withMeta(result: unknown, meta: object): unknown {
  for (const one of [result].flat() as D1Result[]) Object.assign(one.meta, meta);
  return result;
}
