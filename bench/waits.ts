/**
 * How long a request waits for KV and D1: runs the store in this process, with simulated latencies and a mocked clock.
 * The total shows which waits are sequential.
 */
import { mock } from 'node:test';
import { generateKey } from '../src/auth/keys/format.ts';
import { type Call, OPERATIONS, sendInProcess } from './calls.ts';
import type { Section } from './report.ts';
import { stubBindings } from './stubs.ts';

const LATENCY_MS = { KV: 80, D1: 150 };
/** At this age a cached key record is still used, and read again in the background. */
const OLD_MS = 20_000;

/** The waits that add up to each total. */
const SEQUENCES: Record<number, string> = { 80: 'KV', 150: 'D1', 230: 'KV + D1' };

/** The states of a request's key, and the maximum wait in each, in ms. */
const STATES = {
  'key cached': 150,
  'key cached 20 s ago': 150,
  'key not cached': 230,
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
    thresholds: Object.entries(STATES).map(([state, max], column) => ({
      figure: `longest wait of an operation, ${state}, ms`,
      max,
      value: Math.max(...rows.map(({ waits }) => waits[column] ?? Number.NaN)),
    })),
    table: [
      ['operation', ...Object.keys(STATES)],
      ...rows.map(({ name, waits }) => [name, ...waits.map((ms) => SEQUENCES[ms] ?? `${ms} ms`)]),
    ],
  };
}

/** The time from request to response, in ms. */
async function waitOf(call: Call, key: string, isKnown = true): Promise<number> {
  let waiting = 0;
  const bindings = stubBindings(async (binding, value) => {
    waiting += 1;
    await new Promise((resolve) => setTimeout(resolve, LATENCY_MS[binding]));
    waiting -= 1;
    return value;
  }, isKnown);
  const background: Promise<unknown>[] = [];
  const start = Date.now();
  let end = 0;
  let isDone = false;
  const work = sendInProcess(call, bindings, key, background).then(async (response) => {
    end = Date.now();
    if (response.ok !== isKnown) throw new Error(`${call.path}: ${await response.text()}`);
    await Promise.all(background);
  });
  work.finally(() => (isDone = true)).catch(() => {});
  while (!isDone) {
    await new Promise(setImmediate);
    // Advances the clock only while a binding call is pending, so that the app's own work takes no time.
    if (waiting > 0) mock.timers.tick(10);
  }
  await work;
  return end - start;
}
