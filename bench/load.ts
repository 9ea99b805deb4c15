/** Compares servers under the same load: requests a second, and CPU time of a request. */
import { Agent, type IncomingMessage, request } from 'node:http';
import { type Call, headersOf } from './calls.ts';
import { cpuMs } from './processes.ts';
import type { Bounds, Figure, Speed } from './results.ts';
import type { Server } from './servers.ts';
import { type Estimate, mean, ratio } from './statistics.ts';

/** A request, the server that receives it, and what was measured. */
type Target = { server: Server; call: Call; samples: Samples };

export function target(server: Server, call: Call): Target {
  return { server, call, samples: { elapsed: [], cpu: [] } };
}

/** The bounds are those of the ratio. */
export type Comparison = Bounds & { name: string; store: Target; baseline: Target };

/** In each round, each of `connections` sends `count` requests, one after another. The first rounds are not counted. */
type Load = { warmUpRounds: number; rounds: number; connections: number; count: number };

/** Elapsed time and CPU time of each round, divided by its number of requests; in microseconds. */
type Samples = { elapsed: number[]; cpu: number[] };

export type Metric = (store: Samples, baseline: Samples) => Estimate;
export const speed: Metric = (store, baseline) => ratio(baseline.elapsed, store.elapsed);
export const speedByCpu: Metric = (store, baseline) => ratio(baseline.cpu, store.cpu);
export const cpuTime: Metric = (store, baseline) => ratio(store.cpu, baseline.cpu);

/** Each short round measures every target once, in alternating order: other load on the machine affects all equally. */
export async function compare(comparisons: Comparison[], metric: Metric, load: Load) {
  const targets = [...new Set(comparisons.flatMap(({ store, baseline }) => [store, baseline]))];
  const total = load.warmUpRounds + load.rounds;
  for (let round = 1; round <= total; round += 1) {
    for (const target of round % 2 === 0 ? targets : targets.toReversed()) {
      const { elapsed, cpu } = await measure(target, load);
      if (round <= load.warmUpRounds) continue;
      target.samples.elapsed.push(elapsed);
      target.samples.cpu.push(cpu);
    }
  }
  return comparisons.map(({ name, store, baseline, ...bounds }): Figure => {
    const speeds = { store: speedOf(store.samples), baseline: speedOf(baseline.samples) };
    return { name, ...bounds, estimate: metric(store.samples, baseline.samples), ...speeds };
  });
}

function speedOf({ elapsed, cpu }: Samples): Speed {
  const { value, low, high } = mean(elapsed);
  return { cpu: mean(cpu), perSecond: { value: 1e6 / value, low: 1e6 / high, high: 1e6 / low } };
}

async function measure({ server, call }: Target, { connections, count }: Load) {
  const [start, cpu] = [performance.now(), cpuMs(server.pids)];
  await Promise.all(Array.from({ length: connections }, () => send(server.port, call, count)));
  const perRequest = (ms: number) => (ms * 1000) / (connections * count);
  return {
    elapsed: perRequest(performance.now() - start),
    cpu: perRequest(cpuMs(server.pids) - cpu),
  };
}

const agent = new Agent({ keepAlive: true });

/** Sends a request `count` times, one after another. Not by fetch, which adds headers that workerd would have to parse. */
async function send(port: number, call: Call, count: number): Promise<void> {
  const { path, method = 'GET', body } = call;
  for (let i = 0; i < count; i += 1) {
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      const options = { host: '127.0.0.1', port, agent, path, method, headers: headersOf(call) };
      request(options, resolve).on('error', reject).end(body);
    });
    const answer = (await response.toArray()).join('');
    if ((response.statusCode ?? 500) >= 400) throw new Error(`${method} ${path}: ${answer}`);
  }
}
