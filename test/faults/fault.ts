/** The faults of one call of KV, of a rate limiter or of D1. */
import { callBinding, tick } from './clock.ts';

export type Fault =
  | 'works'
  | 'throws' // before the call takes effect
  | 'loses the response' // the call takes effect, then throws
  | 'runs late' // the call throws, and takes effect after the next one of D1 that works
  | 'runs later' // the same, after four more
  | 'is held' // the call takes effect, and returns when the test releases it
  | 'hangs'
  | { text: string } // it throws with this message
  | { takes: number } // milliseconds
  | { meta: object }; // D1 reports this beside its result

/** The calls that wait until the test releases them. */
let held = { count: 0, isReleased: false };
/** The calls that run late, and have not taken effect yet. */
const late = new Map<() => Promise<unknown>, number>();

export const heldCalls = (): number => held.count;

/** Releases the held calls, and forgets the late ones. */
export function endCalls() {
  held.isReleased = true;
  held = { count: 0, isReleased: false };
  late.clear();
}

/**
 * Runs the late calls, one after another. Nobody sees that one fails, as a create does that a retry
 * has carried out.
 */
export async function runLateCalls() {
  for (const [run, calls] of [...late]) {
    late.set(run, calls - 1);
    if (calls > 1) continue;
    late.delete(run);
    await run().catch(() => {});
  }
}

/**
 * Waits for the test. The runtime ends a request that has no timer of its own and waits for another
 * request, so this asks again and again.
 */
async function released() {
  // `endCalls` releases this object, and replaces it for later calls.
  const own = held;
  own.count += 1;
  while (!own.isReleased) await tick();
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Makes a call with a fault. `lost` is the message of an error that has no other. */
export async function callWith<T>(
  fault: Fault | undefined,
  call: () => Promise<T>,
  lost: string,
): Promise<T> {
  const run = () => callBinding(call);
  if (typeof fault === 'object') {
    if ('text' in fault) throw new Error(fault.text);
    if ('takes' in fault) return pause(fault.takes).then(run);
    const result = await run();
    for (const each of [result].flat()) Object.assign(Object(each).meta, fault.meta);
    return result;
  }
  // Without an effect, or with a later one:
  if (fault === 'hangs') return new Promise(() => {});
  if (fault === 'runs late') late.set(run, 1);
  if (fault === 'runs later') late.set(run, 5);
  if (['throws', 'runs late', 'runs later'].includes(String(fault))) throw new Error(lost);
  // The call takes effect, or has no fault:
  const result = await run();
  if (fault === 'loses the response') throw new Error(lost);
  if (fault === 'is held') await callBinding(released);
  return result;
}
