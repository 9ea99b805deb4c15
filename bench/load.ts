/** Compares servers under the same load: requests a second, and CPU time of a request. */
import { type Call, headersOf } from './calls.ts';
import { cpuMs } from './processes.ts';
import type { Bounds, Figure, Speed } from './results.ts';
import type { Server } from './servers.ts';
import { mean, ratio } from './statistics.ts';

/** A request, and the server that receives it. */
export type Target = { server: Server; call: Call };

/** The bounds are those of the ratio. */
export type Comparison = Bounds & { name: string; store: Target; baseline: Target };

/** The ratio to compute: of speeds, store ÷ baseline, or of the CPU time of a request, store ÷ baseline. */
export type Metric = 'requests/s' | 'requests per CPU second' | 'CPU per request';

/** In each round, each of `connections` sends `count` requests, one after another. The first rounds are not counted. */
type Load = { warmUpRounds: number; rounds: number; connections: number; count: number };

/** Elapsed time and CPU time of a round, divided by its number of requests; in microseconds. */
type Sample = { elapsed: number; cpu: number };

/**
 * Each round measures every target once, every other round in the opposite order. Rounds are short, so that other load
 * on the machine affects all targets equally.
 */
export async function compare(comparisons: Comparison[], metric: Metric, load: Load) {
  const targets = [...new Set(comparisons.flatMap(({ store, baseline }) => [store, baseline]))];
  const samples = new Map<Target, Sample[]>(targets.map((target) => [target, []]));
  const total = load.warmUpRounds + load.rounds;
  for (let round = 1; round <= total; round += 1) {
    for (const target of round % 2 === 0 ? targets : targets.toReversed()) {
      const sample = await measure(target, load);
      if (round > load.warmUpRounds) samples.get(target)?.push(sample);
    }
    if (round % 10 === 0) console.error(`  round ${round} of ${total}`);
  }

  return comparisons.map(({ name, store, baseline, ...bounds }): Figure => {
    const [ours, theirs] = [samples.get(store) ?? [], samples.get(baseline) ?? []];
    const estimate = {
      'requests/s': ratio(theirs.map(elapsedOf), ours.map(elapsedOf)),
      'requests per CPU second': ratio(theirs.map(cpuOf), ours.map(cpuOf)),
      'CPU per request': ratio(ours.map(cpuOf), theirs.map(cpuOf)),
    }[metric];
    return { name, ...bounds, estimate, store: speedOf(ours), baseline: speedOf(theirs) };
  });
}

const cpuOf = ({ cpu }: Sample) => cpu;
const elapsedOf = ({ elapsed }: Sample) => elapsed;

function speedOf(samples: Sample[]): Speed {
  const { value, low, high } = mean(samples.map(elapsedOf));
  const perSecond = { value: 1e6 / value, low: 1e6 / high, high: 1e6 / low };
  return { cpu: mean(samples.map(cpuOf)), perSecond };
}

async function measure({ server, call }: Target, { connections, count }: Load): Promise<Sample> {
  const [start, cpu] = [performance.now(), cpuMs(server.pids)];
  await Promise.all(Array.from({ length: connections }, () => send(server.port, call, count)));
  const requests = connections * count;
  return {
    elapsed: ((performance.now() - start) * 1000) / requests,
    cpu: ((cpuMs(server.pids) - cpu) * 1000) / requests,
  };
}

/** Sends a request `count` times, one after another. */
async function send(port: number, call: Call, count: number): Promise<void> {
  const headers = { ...headersOf(call), 'accept-encoding': 'identity' };
  for (let i = 0; i < count; i += 1) {
    const response = await fetch(`http://127.0.0.1:${port}${call.path}`, { ...call, headers });
    const body = await response.text();
    if (!response.ok) throw new Error(`${call.path}: ${response.status} ${body}`);
  }
}
