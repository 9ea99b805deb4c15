/** Compares the CPU time of a request to two workers under the same load. On Linux only. */
import { LOCAL_KEY } from '../ops/local/store.ts';
import { type Call, headersOf } from '../test/support/stubs.ts';
import { build, cpuUs, type Server, STUBBED, withServers } from './servers.ts';
import { type Estimate, median, show, table } from './statistics.ts';

/** The same worker takes up to 5 % more or less CPU in another process. So each is started this often. */
const STARTS = 9;
const WARM_UP_ROUNDS = 6;
const ROUNDS = 5;
const CONNECTIONS = 16;
/** Of each connection in a round. */
const REQUESTS = 30;

const CALLS: Record<string, Call> = {
  'list of 20': { path: '/v1/pets?limit=20' },
  get: { path: '/v1/pets/4' },
  create: {
    method: 'POST',
    path: '/v1/pets',
    body: '{"name":"Rex","categoryId":3,"status":"sold"}',
  },
};

/** Both with stub bindings, so that the CPU time of KV and D1 does not count. */
export async function raceWithPlainHono(): Promise<string> {
  const plainHono = await build('bench/workers/stubbed-plain-hono.ts');
  return toTable(await race(await build(STUBBED), plainHono));
}

type Result = { name: string; ratio: Estimate; ours: Estimate; theirs: Estimate };

export function toTable(results: Result[]): string {
  const rows = results.map(({ name, ratio, ours, theirs }) => {
    return [name, ...[ratio, ours, theirs].map(show)];
  });
  return table(['request', 'ratio', 'this worker, CPU µs', 'the other, CPU µs'], rows);
}

/**
 * Serves two bundles. In each short round, each connection sends requests to one worker and then to the other: other work on
 * the machine affects both equally.
 */
export async function race(ourBundle: string, theirBundle: string): Promise<Result[]> {
  const races = Object.entries(CALLS).map(([name, call]) => {
    return { name, call, ours: [] as number[], theirs: [] as number[] };
  });
  for (let start = 0; start < STARTS; start += 1) {
    await withServers([ourBundle, theirBundle], 0, async (ourServer, theirServer) => {
      for (let round = 0; round < WARM_UP_ROUNDS + ROUNDS; round += 1) {
        for (const { call, ours, theirs } of races) {
          const ourTime = await measure(ourServer, call);
          const theirTime = await measure(theirServer, call);
          if (round < WARM_UP_ROUNDS) continue;
          ours.push(ourTime);
          theirs.push(theirTime);
        }
      }
    });
  }
  return races.map(({ name, ours, theirs }) => {
    const ratio = median(ours.map((time, round) => time / Number(theirs[round])));
    return { name, ratio, ours: median(ours), theirs: median(theirs) };
  });
}

/** The CPU time of a request, in microseconds. */
async function measure({ port, pids }: Server, call: Call): Promise<number> {
  const before = cpuUs(pids);
  await Promise.all(Array.from({ length: CONNECTIONS }, () => send(port, call, REQUESTS)));
  return (cpuUs(pids) - before) / (CONNECTIONS * REQUESTS);
}

/** Sends a request `count` times, one after another. Returns the duration of each, in milliseconds. */
export async function send(port: number, call: Call, count: number): Promise<number[]> {
  const url = `http://127.0.0.1:${port}${call.path}`;
  const durations: number[] = [];
  for (let i = 0; i < count; i += 1) {
    const begin = performance.now();
    const response = await fetch(url, { ...call, headers: headersOf(call, LOCAL_KEY) });
    const answer = await response.text();
    durations.push(performance.now() - begin);
    if (!response.ok) throw new Error(`${url}: ${answer}`);
  }
  return durations;
}
