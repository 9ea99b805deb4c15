/** Compares two servers under the same load: requests a second, and CPU time of a request. */
import { connect } from 'node:net';
import { type Call, headersOf } from './calls.ts';
import { cpuMs } from './processes.ts';
import type { Bounds, Section } from './report.ts';
import type { Server } from './servers.ts';
import { type Estimate, mean, ratio, show } from './statistics.ts';

/** A request, and the server that receives it. */
type Target = { server: Server; call: Call };

/** The bounds are those of the ratio, store ÷ baseline. */
export type Comparison = Bounds & { name: string; store: Target; baseline: Target };

/** The measurement whose ratio is computed. */
export type Metric = 'requests/s' | 'requests per CPU second' | 'CPU per request';

/** In each round, each of `connections` sends `count` requests, one after another. */
type Load = { rounds: number; connections: number; count: number };

/** Elapsed time and CPU time of a round, divided by its number of requests; in microseconds. */
type Sample = { elapsed: number; cpu: number };

/** The engine optimizes a worker during its first thousands of requests. */
const WARM_UP_ROUNDS = 20;
const COLUMNS = ['store: CPU µs', 'store: requests/s', 'baseline: CPU µs', 'baseline: requests/s'];

/**
 * Each round measures every target once, every other round in the opposite order. Rounds are short, so that other load
 * on the machine affects all targets equally.
 */
export async function compare(comparisons: Comparison[], metric: Metric, load: Load) {
  const targets = comparisons.flatMap(({ store, baseline }) => [store, baseline]);
  const samples = new Map<Target, Sample[]>(targets.map((target) => [target, []]));
  for (const target of targets) {
    for (let i = 0; i < WARM_UP_ROUNDS; i += 1) await measure(target, load);
  }
  for (let round = 1; round <= load.rounds; round += 1) {
    for (const target of round % 2 === 0 ? targets : targets.toReversed()) {
      samples.get(target)?.push(await measure(target, load));
    }
    if (round % 10 === 0) console.error(`  round ${round} of ${load.rounds}`);
  }
  const section: Section = { thresholds: [], table: [['', ...COLUMNS, `ratio of ${metric}`]] };
  for (const { name, store, baseline, ...bounds } of comparisons) {
    const cpu = (target: Target) => samples.get(target)?.map((sample) => sample.cpu) ?? [];
    const elapsed = (target: Target) => samples.get(target)?.map((sample) => sample.elapsed) ?? [];
    const estimate = {
      'requests/s': ratio(elapsed(baseline), elapsed(store)),
      'requests per CPU second': ratio(cpu(baseline), cpu(store)),
      'CPU per request': ratio(cpu(store), cpu(baseline)),
    }[metric];
    const cells = [store, baseline].flatMap((target) => [
      mean(cpu(target)),
      perSecond(mean(elapsed(target))),
    ]);
    section.table.push([name, ...cells.map((cell) => show(cell)), show(estimate, 2)]);
    const threshold = { figure: `${name}, ${metric}`, value: estimate.value, estimate, ...bounds };
    if (bounds.min ?? bounds.max) section.thresholds.push(threshold);
  }
  return section;
}

/** Requests a second, from the elapsed time per request in microseconds. */
function perSecond({ value, low, high }: Estimate): Estimate {
  return { value: 1e6 / value, low: 1e6 / high, high: 1e6 / low };
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

/** Sends a request `count` times on one connection. Uses a raw socket, because Node's clients take as much CPU as the worker. */
async function send(port: number, call: Call, count: number): Promise<void> {
  const { method = 'GET', path, body = '' } = call;
  const length = body && { 'content-length': body.length };
  const headers = Object.entries({ host: 'localhost', ...length, ...headersOf(call) });
  const lines = headers.map(([header, value]) => `${header}: ${value}\r\n`).join('');
  const request = `${method} ${path} HTTP/1.1\r\n${lines}\r\n${body}`;
  const expected = `HTTP/1.1 ${method === 'POST' ? 201 : 200} `;
  const socket = connect(port, '127.0.0.1').setNoDelay().setEncoding('latin1');
  socket.write(request);
  let [response, left] = ['', count];
  for await (const chunk of socket) {
    response += chunk;
    if (!isComplete(response)) continue;
    if (!response.startsWith(expected)) throw new Error(`${method} ${path}: ${response}`);
    left -= 1;
    if (left === 0) return;
    response = '';
    socket.write(request);
  }
  throw new Error(`${method} ${path}: the connection was closed`);
}

function isComplete(response: string): boolean {
  const bodyStart = response.indexOf('\r\n\r\n') + 4;
  if (bodyStart < 4) return false;
  const length = /^content-length: (\d+)/im.exec(response)?.[1];
  return length
    ? response.length >= bodyStart + Number(length)
    : response.endsWith('\r\n0\r\n\r\n');
}
