/** Compares the CPU time of a request to two workers under the same load. On Linux only. */
import { LOCAL_KEY } from '../ops/local/store.ts';
import { type Call, headersOf } from '../test/support/stubs.ts';
import { build, cpuUs, type Server, withServers } from './servers.ts';
import { median, show, table } from './statistics.ts';

/** The same worker takes up to 5 % more or less CPU in another process. So each is started this often. */
const STARTS = 9;
const WARM_UP_ROUNDS = 6;
const ROUNDS = 5;
const CONNECTIONS = 16;

const CALLS: Record<string, Call> = {
  'list of 20': { path: '/v1/pets?limit=20' },
  get: { path: '/v1/pets/4' },
  create: {
    method: 'POST',
    path: '/v1/pets',
    body: '{"name":"Rex","categoryId":3,"status":"sold"}',
  },
};

/** The store beside a worker that makes the same calls of the platform, each with ten thousand animals. */
export async function raceWithBareWorker(): Promise<string> {
  const store = await build('src/index.ts');
  return race(store, await build('bench/workers/bare.ts'), 10_000, 12);
}

/**
 * Serves two bundles, each with its own animals. In each short round, each connection sends this many requests to one worker
 * and then to the other: other work on the machine affects both equally. Returns a table.
 */
export async function race(
  ourBundle: string,
  theirBundle: string,
  pets: number,
  requests: number,
): Promise<string> {
  const races = Object.entries(CALLS).map(([name, call]) => {
    return { name, call, ours: [] as number[], theirs: [] as number[] };
  });
  for (let start = 0; start < STARTS; start += 1) {
    await withServers([ourBundle, theirBundle], pets, async (ourServer, theirServer) => {
      for (let round = 0; round < WARM_UP_ROUNDS + ROUNDS; round += 1) {
        for (const { call, ours, theirs } of races) {
          const ourTime = await measure(ourServer, call, requests);
          const theirTime = await measure(theirServer, call, requests);
          if (round < WARM_UP_ROUNDS) continue;
          ours.push(ourTime);
          theirs.push(theirTime);
        }
      }
    });
  }
  const rows = races.map(({ name, ours, theirs }) => {
    const ratios = ours.map((time, round) => time / Number(theirs[round]));
    return [name, ...[ratios, ours, theirs].map((values) => show(median(values)))];
  });
  return table(['request', 'ratio', 'this worker, CPU µs', 'the other, CPU µs'], rows);
}

/** The CPU time of a request, in microseconds. */
async function measure({ port, pids }: Server, call: Call, count: number): Promise<number> {
  const before = cpuUs(pids);
  await Promise.all(Array.from({ length: CONNECTIONS }, () => send(port, call, count)));
  return (cpuUs(pids) - before) / (CONNECTIONS * count);
}

/** Sends a request `count` times, one after another. */
export async function send(port: number, call: Call, count: number): Promise<void> {
  const url = `http://127.0.0.1:${port}${call.path}`;
  for (let i = 0; i < count; i += 1) {
    const response = await fetch(url, { ...call, headers: headersOf(call, LOCAL_KEY) });
    const answer = await response.text();
    if (!response.ok) throw new Error(`${url}: ${answer}`);
  }
}
