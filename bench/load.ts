/** Compares the CPU time of a request to two workers under the same load. */
import { type Call, headersOf } from './calls.ts';
import { cpuMs } from './processes.ts';
import type { Figure } from './results.ts';
import type { Server } from './servers.ts';
import { mean, ratio } from './statistics.ts';

const WARM_UP_ROUNDS = 6;
const ROUNDS = 40;
const CONNECTIONS = 16;

/** A request to two servers. `max`: of the ratio of CPU times, store ÷ baseline. */
type Comparison = { name: string; call: Call; max?: number };

/**
 * In each round, each connection sends the request `count` times to the store, and then to the baseline: other load on
 * the machine affects both equally.
 */
export async function compare(
  store: Server,
  baseline: Server,
  count: number,
  { call, ...comparison }: Comparison,
): Promise<Figure> {
  const ours: number[] = [];
  const theirs: number[] = [];
  for (let round = 0; round < WARM_UP_ROUNDS + ROUNDS; round += 1) {
    ours.push(await measure(store, call, count));
    theirs.push(await measure(baseline, call, count));
  }
  ours.splice(0, WARM_UP_ROUNDS);
  theirs.splice(0, WARM_UP_ROUNDS);
  const estimate = ratio(ours, theirs);
  return { ...comparison, estimate, store: mean(ours), baseline: mean(theirs) };
}

/** The CPU time of a request, in microseconds. */
async function measure({ port, pids }: Server, call: Call, count: number): Promise<number> {
  const before = cpuMs(pids);
  await Promise.all(Array.from({ length: CONNECTIONS }, () => send(port, call, count)));
  return ((cpuMs(pids) - before) * 1000) / (CONNECTIONS * count);
}

/** Sends a request `count` times, one after another. */
async function send(port: number, call: Call, count: number): Promise<void> {
  const url = `http://127.0.0.1:${port}${call.path}`;
  for (let i = 0; i < count; i += 1) {
    const response = await fetch(url, { ...call, headers: headersOf(call) });
    const answer = await response.text();
    if (!response.ok) throw new Error(`${url}: ${answer}`);
  }
}
