/** The store and another worker take turns under load: requests a second, and CPU of a request. */
import { connect } from 'node:net';
import { type Call, headersOf } from './calls.ts';
import type { Section } from './report.ts';
import type { Server } from './rigs.ts';
import { cpuMs } from './runtime.ts';
import { ratio, show, summarize } from './statistics.ts';

type Side = { server: Server; call: Call };

/** Two requests that are compared. */
export type Duel = {
  name: string;
  store: Side;
  other: Side;
  /** The bar of the ratio, store ÷ other: at least, at most. */
  least?: number;
  most?: number;
};

/** What the bars of a race compare. */
export type Metric = 'requests a second' | 'requests in a second of CPU' | 'CPU of a request';

type Turn = { perSecond: number; cpuMicros: number };

const ROUNDS = 21;
/** Turns of each side before: for thousands of requests the engine makes a worker faster. */
const WARM_UP_TURNS = 5;

/**
 * Alternates the sides in short turns, in which each of `connections` sends `count` requests, so that other load on the
 * machine affects all sides equally. Every other round is in the opposite order.
 */
export async function race(duels: Duel[], metric: Metric, connections: number, count: number) {
  const sides = duels.flatMap(({ store, other }) => [store, other]);
  const turns = new Map<Side, Turn[]>(sides.map((side) => [side, []]));
  for (const side of sides) {
    for (let i = 0; i < WARM_UP_TURNS; i += 1) await takeTurn(side, connections, count);
  }
  for (let round = 1; round <= ROUNDS; round += 1) {
    for (const side of round % 2 === 0 ? sides : sides.toReversed()) {
      turns.get(side)?.push(await takeTurn(side, connections, count));
    }
    if (round % 7 === 0) console.error(`  round ${round} of ${ROUNDS}`);
  }
  const head = ['', 'store: CPU, µs', 'a second', 'other: CPU, µs', 'a second', `ratio, ${metric}`];
  const section: Section = { bars: [], table: [head] };
  for (const { name, store, other, ...bound } of duels) {
    const of = (side: Side, key: keyof Turn) => (turns.get(side) ?? []).map((turn) => turn[key]);
    const spread = {
      'requests a second': ratio(of(store, 'perSecond'), of(other, 'perSecond')),
      'requests in a second of CPU': ratio(of(other, 'cpuMicros'), of(store, 'cpuMicros')),
      'CPU of a request': ratio(of(store, 'cpuMicros'), of(other, 'cpuMicros')),
    }[metric];
    const cells = [store, other].flatMap((side) => [of(side, 'cpuMicros'), of(side, 'perSecond')]);
    section.table.push([name, ...cells.map((cell) => show(summarize(cell))), show(spread, 2)]);
    const bar = { figure: `${name}, ${metric}`, value: spread.median, spread, ...bound };
    if (bound.least ?? bound.most) section.bars.push(bar);
  }
  return section;
}

async function takeTurn(side: Side, connections: number, count: number): Promise<Turn> {
  const { pids } = side.server;
  const [start, cpu] = [performance.now(), cpuMs(pids)];
  await Promise.all(Array.from({ length: connections }, () => send(side, count)));
  const requests = connections * count;
  return {
    perSecond: (requests * 1000) / (performance.now() - start),
    cpuMicros: ((cpuMs(pids) - cpu) * 1000) / requests,
  };
}

/** Sends a request `count` times on one connection. Uses a raw socket, because Node's clients take as much CPU as the worker. */
async function send({ server, call }: Side, count: number): Promise<void> {
  const { method = 'GET', path, body = '' } = call;
  const length = body && { 'content-length': body.length };
  const headers = Object.entries({ host: 'localhost', ...length, ...headersOf(call) });
  const lines = headers.map(([header, value]) => `${header}: ${value}\r\n`).join('');
  const request = `${method} ${path} HTTP/1.1\r\n${lines}\r\n${body}`;
  const expected = `HTTP/1.1 ${method === 'POST' ? 201 : 200} `;
  const socket = connect(server.port, '127.0.0.1').setNoDelay().setEncoding('latin1');
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
