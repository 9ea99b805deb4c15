/**
 * How long a request waits for the platform: the store in this process, with a KV of 80 ms and a D1 of 150 ms on a clock
 * that only this module moves. The sum shows which waits follow one another.
 */
import { mock } from 'node:test';
import { generateKey } from '../src/keys/format.ts';
import { type Call, OPERATIONS, sendInProcess } from './calls.ts';
import { instantBindings } from './instant.ts';
import type { Section } from './report.ts';

const LATENCY_MS = { KV: 80, D1: 150 };
/** The age of a key's record at which it is used once more, and read again behind the response. */
const OLD_MS = 20_000;

/** The waits that a sum stands for. */
const CHAINS: Record<number, string> = { 80: 'KV', 150: 'D1', 230: 'KV + D1' };

/** The states of a request's key, and the longest wait that each allows, in ms. */
const STATES = {
  'key in memory': 150,
  'key in memory for 20 s': 150,
  'key not in memory': 230,
  'unknown key': 80,
};

export async function measureWaits(): Promise<Section> {
  mock.timers.enable({ apis: ['setTimeout', 'Date'], now: Date.parse('2026-11-20') });
  const rows: { name: string; waits: number[] }[] = [];
  for (const [name, call] of Object.entries(OPERATIONS)) {
    const key = generateKey('production');
    const cold = await waitOf(call, key);
    const warm = await waitOf(call, key);
    mock.timers.tick(OLD_MS);
    const old = await waitOf(call, key);
    const unknown = await waitOf(call, generateKey('production'), false);
    rows.push({ name, waits: [warm, old, cold, unknown] });
  }
  mock.timers.reset();
  return {
    bars: Object.entries(STATES).map(([state, most], column) => ({
      figure: `longest wait of an operation, ${state}, ms`,
      most,
      value: Math.max(...rows.map(({ waits }) => waits[column] ?? Number.NaN)),
    })),
    table: [
      ['operation', ...Object.keys(STATES)],
      ...rows.map(({ name, waits }) => [name, ...waits.map((ms) => CHAINS[ms] ?? `${ms} ms`)]),
    ],
  };
}

/** The time from request to response, in ms. */
async function waitOf(call: Call, key: string, isKnown = true): Promise<number> {
  let waiting = 0;
  const bindings = instantBindings(async (binding, value) => {
    waiting += 1;
    await new Promise((resolve) => setTimeout(resolve, LATENCY_MS[binding]));
    waiting -= 1;
    return value;
  }, isKnown);
  const behind: Promise<unknown>[] = [];
  const start = Date.now();
  let end = 0;
  let isDone = false;
  const work = sendInProcess(call, bindings, key, behind).then(async (response) => {
    end = Date.now();
    if (response.ok !== isKnown) throw new Error(`${call.path}: ${await response.text()}`);
    await Promise.all(behind);
  });
  work.finally(() => (isDone = true)).catch(() => {});
  while (!isDone) {
    await new Promise(setImmediate);
    // The clock stands still while no binding is called: then the app is at work.
    if (waiting > 0) mock.timers.tick(10);
  }
  await work;
  return end - start;
}
