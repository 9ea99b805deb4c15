/** Compares the CPU time of a request to workers under the same load. On Linux only. */
import { LOCAL_KEY } from '../ops/local/store.ts';
import { type Call, headersOf } from '../test/support/stubs.ts';
import {
  buildAll,
  cpuUs,
  inRounds,
  type Server,
  STUBBED,
  WORKERS,
  withServers,
} from './servers.ts';
import { type Estimate, IS_TRIAL, median, show, table } from './statistics.ts';

/**
 * The same worker takes up to 5 % more or less CPU in another process. So each is started this
 * often.
 */
const STARTS = IS_TRIAL ? 1 : 8;
const CLIENTS = 16;
/** Of each client in a round. */
const COUNT = 30;

export const REQUESTS = {
  list: { path: '/v1/pets?limit=20' },
  get: { path: '/v1/pets/4' },
  create: {
    method: 'POST',
    path: '/v1/pets',
    body: '{"name":"Rex","categoryId":3,"status":"sold"}',
  },
};

/** With stub bindings, so that the CPU time of KV and D1 does not count. Returns a table. */
export async function raceWithOthers(): Promise<string> {
  const bundles = await buildAll([
    STUBBED,
    'bench/workers/stubbed-plain-hono.ts',
    'bench/workers/stubbed-zod-openapi.ts',
  ]);
  return toTable(await race(bundles), Object.keys(WORKERS).slice(1));
}

/** The CPU µs of a request to the first worker, and these divided by those of each other worker. */
type Result = [first: Estimate, ...ratios: Estimate[]];

export function toTable(results: Result[], others: string[]): string {
  const names = Object.keys(REQUESTS);
  const rows = results.map((result, index) => [`${names[index]}`, ...result.map(show)]);
  return table(['request', 'CPU µs', ...others.map((name) => `÷ ${name}`)], rows);
}

/** Returns a result for each of the requests. */
export async function race(bundles: string[]): Promise<Result[]> {
  const races = Object.values(REQUESTS).map((call) => {
    return { call, times: bundles.map((): number[] => []) };
  });
  for (let start = 0; start < STARTS; start += 1) {
    await withServers(bundles, 0, async (...servers) => {
      for (const { call, times } of races) {
        const measured = await inRounds(servers, (server) => measureCpu(server, call));
        for (const [index, values] of measured.entries()) times[index]?.push(...values);
      }
    });
  }
  return races.map(({ times: [first = [], ...others] }) => {
    const ratiosTo = (times: number[]) => first.map((time, round) => time / Number(times[round]));
    return [median(first), ...others.map((times) => median(ratiosTo(times)))];
  });
}

/** The CPU time of a request, in microseconds. */
async function measureCpu({ port, pids }: Server, call: Call): Promise<number> {
  if (pids.length === 0) throw new Error('pgrep finds no process of workerd');
  const before = cpuUs(pids);
  await send(port, call, CLIENTS, COUNT);
  return (cpuUs(pids) - before) / (CLIENTS * COUNT);
}

/**
 * Each client sends a request `count` times, one after another. Returns the duration of each, in
 * milliseconds.
 */
export async function send(port: number, call: Call, clients = 1, count = 1): Promise<number[]> {
  const url = `http://127.0.0.1:${port}${call.path}`;
  const durations: number[] = [];
  const sendOneByOne = async () => {
    for (let i = 0; i < count; i += 1) {
      const begin = performance.now();
      const response = await fetch(url, { ...call, headers: headersOf(LOCAL_KEY, call.headers) });
      const answer = await response.text();
      durations.push(performance.now() - begin);
      if (!response.ok) throw new Error(`${url}: ${answer}`);
    }
  };
  await Promise.all(Array.from({ length: clients }, sendOneByOne));
  return durations;
}
