/**
 * How often a request waits for the platform, one wait after another: the store in this process, with a KV that takes
 * 80 ms and a D1 that takes 150 ms of a clock that only this module moves. Waits are counted, not timed.
 */
import { mock } from 'node:test';
import { generateKey } from '../src/keys/format.ts';
import { type Call, OPERATIONS, sendInProcess } from './calls.ts';
import { type Binding, instantBindings } from './instant.ts';
import type { Section } from './results.ts';

const LATENCY_MS: Record<Binding, number> = { KV: 80, D1: 150 };
const STEP_MS = 10;
/** The age of a key's record at which it is used once more, and read again behind the response. */
const OLD_MS = 20_000;

/** The states of a request's key, and the waits that each should cost, in the order of the columns. */
const EXPECTED = {
  'key in memory': 'D1',
  'key in memory for 20 s': 'D1',
  'key not in memory': 'KV + D1',
  'unknown key': 'KV',
};

export async function countWaits(): Promise<Section> {
  mock.timers.enable({ apis: ['setTimeout', 'Date'], now: Date.parse('2026-11-20') });
  try {
    const rows: string[][] = [];
    for (const [name, call] of Object.entries(OPERATIONS)) {
      const key = generateKey('production');
      const cold = await waitsOf(call, key);
      const warm = await waitsOf(call, key);
      mock.timers.tick(OLD_MS);
      const old = await waitsOf(call, key);
      rows.push([name, warm, old, cold, await waitsOf(call, generateKey('production'), 401)]);
    }
    const bars = Object.entries(EXPECTED).map(([state, chain], i) => ({
      figure: `operations with other waits than ${chain}, ${state}`,
      ...{ most: 0, value: rows.filter((row) => row[i + 1] !== chain).length },
    }));
    const value = await countKvReads();
    const kvReads = { figure: 'KV reads of 1,000 requests with one key', most: 1, value };
    return { bars: [...bars, kvReads], table: [['operation', ...Object.keys(EXPECTED)], ...rows] };
  } finally {
    mock.timers.reset();
  }
}

/** The calls that the response waited for, each of which began after the one before had ended. */
async function waitsOf(call: Call, key: string, status?: number): Promise<string> {
  const calls: { binding: Binding; begin: number; end: number }[] = [];
  let waiting = 0;
  const bindings = instantBindings(async (binding, value) => {
    const begin = Date.now();
    waiting += 1;
    await new Promise((resolve) => setTimeout(resolve, LATENCY_MS[binding]));
    waiting -= 1;
    calls.push({ binding, begin, end: Date.now() });
    return value;
  }, status === undefined);
  const behind: Promise<unknown>[] = [];
  const sending = sendInProcess(call, bindings, key, behind);
  await advanceUntil(sending, () => waiting > 0);
  // Backwards from the response, and over what overlaps. `calls` is in the order of the ends.
  const chain: Binding[] = [];
  let before = Date.now();
  for (const { binding, begin, end } of calls.toReversed()) {
    if (end > before) continue;
    chain.unshift(binding);
    before = begin;
  }
  await advanceUntil(Promise.all(behind), () => waiting > 0);
  const response = await sending;
  if (status ? response.status !== status : !response.ok) {
    throw new Error(`${call.path}: ${response.status} ${await response.text()}`);
  }
  return chain.join(' + ');
}

/** At one moment: the clock stands still. */
async function countKvReads(): Promise<number> {
  let reads = 0;
  const bindings = instantBindings(async (binding, value) => {
    if (binding === 'KV') reads += 1;
    return value;
  });
  const key = generateKey('production');
  for (let i = 0; i < 1_000; i += 1) await sendInProcess(OPERATIONS.listPets, bindings, key);
  return reads;
}

/** Moves the clock until a promise is settled, but only while a binding is called: else the app is at work. */
async function advanceUntil(promise: Promise<unknown>, isWaiting: () => boolean): Promise<void> {
  let isSettled = false;
  promise.finally(() => (isSettled = true)).catch(() => {});
  for (;;) {
    await new Promise(setImmediate);
    if (isSettled) return;
    if (isWaiting()) mock.timers.tick(STEP_MS);
  }
}
