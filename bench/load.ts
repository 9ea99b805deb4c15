/** Compares the CPU time of a request to two workers under the same load. */
import { Agent, type IncomingMessage, request } from 'node:http';
import { type Call, headersOf } from './calls.ts';
import { cpuMs } from './processes.ts';
import type { Figure } from './results.ts';
import { type Built, build, type Server, type Worker, withServers } from './servers.ts';
import { mean, ratio } from './statistics.ts';

/** A request, the worker that receives it, and its CPU time in each session, in microseconds. */
type Target = { worker: Worker; call: Call; cpu: number[] };

export const target = (worker: Worker, call: Call): Target => ({ worker, call, cpu: [] });

/** `max`: of the ratio, store ÷ baseline. */
export type Comparison = { name: string; max?: number; store: Target; baseline: Target };

/** In each round, each of `connections` sends `count` requests, one after another. The first rounds are not counted. */
type Load = { warmUpRounds: number; rounds: number; connections: number; count: number };

/** The same worker takes up to 5 % more or less CPU in another process. So each is started this often. */
const SESSIONS = 9;

/** Each short round measures every target once, in alternating order: other load on the machine affects all equally. */
export async function compare(comparisons: Comparison[], load: Load): Promise<Figure[]> {
  const targets = [...new Set(comparisons.flatMap(({ store, baseline }) => [store, baseline]))];
  const workers = [...new Set(targets.map(({ worker }) => worker))];
  const built: Built[] = [];
  for (const worker of workers) built.push({ ...worker, file: await build(worker.entry) });
  for (let session = 0; session < SESSIONS; session += 1) {
    await withServers(built, async (servers) => {
      const rounds = new Map(targets.map((target) => [target, [] as number[]]));
      for (let round = 1; round <= load.warmUpRounds + load.rounds; round += 1) {
        for (const target of round % 2 === 0 ? targets : targets.toReversed()) {
          const server = servers[workers.indexOf(target.worker)];
          if (!server) throw new Error('a worker is not served');
          const cpu = await measure(server, target.call, load);
          if (round > load.warmUpRounds) rounds.get(target)?.push(cpu);
        }
      }
      for (const [target, cpu] of rounds) target.cpu.push(mean(cpu).value);
    });
  }
  return comparisons.map(({ store, baseline, ...comparison }) => ({
    ...comparison,
    estimate: ratio(store.cpu, baseline.cpu),
    store: mean(store.cpu),
    baseline: mean(baseline.cpu),
  }));
}

async function measure(server: Server, call: Call, { connections, count }: Load): Promise<number> {
  const before = cpuMs(server.pids);
  await Promise.all(Array.from({ length: connections }, () => send(server.port, call, count)));
  return ((cpuMs(server.pids) - before) * 1000) / (connections * count);
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
