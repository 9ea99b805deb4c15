/** Compares the CPU time of a request to two workers under the same load. */
import { type Call, headersOf } from './calls.ts';
import { cpuMs } from './processes.ts';
import type { Figure } from './results.ts';
import { type Server, withServers } from './servers.ts';
import { median, medianRatio } from './statistics.ts';

/** The same worker takes up to 5 % more or less CPU in another process. So each is started this often. */
const STARTS = 9;
const WARM_UP_ROUNDS = 6;
const ROUNDS = 5;
const CONNECTIONS = 16;

/** The bundles of the store and of a worker to compare it with, how many animals each has, and the load of a round. */
type Pair = { store: string; baseline: string; pets: number; requestsPerConnection: number };

/** A request to both workers. `max`: of the ratio of CPU times, store ÷ baseline. */
type Comparison = { name: string; call: Call; max: number };

/** The CPU times of its rounds. */
type Measured = Comparison & { ours: number[]; theirs: number[] };

/**
 * In each short round, each connection sends its requests to one worker and then to the other: other load on the machine
 * affects both equally. They take turns to be the first.
 */
export async function compare(
  { store, baseline, pets, requestsPerConnection }: Pair,
  comparisons: Comparison[],
): Promise<{ figures: Figure[] }> {
  const measured = comparisons.map((comparison): Measured => {
    return { ...comparison, ours: [], theirs: [] };
  });
  for (let start = 0; start < STARTS; start += 1) {
    await withServers([store, baseline], pets, async (ourServer, theirServer) => {
      for (let round = 0; round < WARM_UP_ROUNDS + ROUNDS; round += 1) {
        for (const { call, ours, theirs } of measured) {
          const turns = [
            { server: ourServer, times: ours },
            { server: theirServer, times: theirs },
          ];
          if (round % 2 === 1) turns.reverse();
          for (const { server, times } of turns) {
            const time = await measure(server, call, requestsPerConnection);
            if (round >= WARM_UP_ROUNDS) times.push(time);
          }
        }
      }
    });
  }
  const figures = measured.map(({ call, ours, theirs, ...comparison }) => ({
    ...comparison,
    estimate: medianRatio(ours, theirs),
    store: median(ours),
    baseline: median(theirs),
  }));
  return { figures };
}

/** The CPU time of a request, in microseconds. */
async function measure({ port, pids }: Server, call: Call, count: number): Promise<number> {
  const before = cpuMs(pids);
  await Promise.all(Array.from({ length: CONNECTIONS }, () => send(port, call, count)));
  return ((cpuMs(pids) - before) * 1000) / (CONNECTIONS * count);
}

/** Sends a request `count` times, one after another. */
export async function send(port: number, call: Call, count: number): Promise<void> {
  const url = `http://127.0.0.1:${port}${call.path}`;
  for (let i = 0; i < count; i += 1) {
    const response = await fetch(url, { ...call, headers: headersOf(call) });
    const answer = await response.text();
    if (!response.ok) throw new Error(`${url}: ${answer}`);
  }
}
