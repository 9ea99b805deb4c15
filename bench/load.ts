/** Contenders that take turns under load: requests a second, and CPU of a request. */
import { connect } from 'node:net';
import { type Call, headersOf } from './calls.ts';
import type { Section } from './results.ts';
import type { Server } from './rigs.ts';
import { ratio, show, summarize } from './statistics.ts';

export type Contender = {
  name: string;
  server: Server;
  call: Call;
  status?: number;
  /** The contender of the store that is compared with this one. */
  store?: string;
  /** Minimum of the store's speed ÷ this one's, by this metric. */
  least?: number;
  metric?: Metric;
  /** Maximum of the store's CPU of a request ÷ this one's. */
  most?: number;
};

/**
 * On an idle machine both are nearly the same, as one thread of the runtime does nearly all the work. On a busy one the
 * second varies less.
 */
export type Metric = 'requests a second' | 'requests in a second of CPU';

export type Load = {
  /** Requests in progress at a time. */
  connections: number;
  /** Requests of one turn: few, so that what disturbs the machine meets one contender as it meets the next. */
  amount: number;
  rounds: number;
  /** Requests of each contender before: for thousands of them the engine makes a worker faster. */
  warmUp: number;
};

type Turns = { perSecond: number[]; cpuMicros: number[] };

const HEAD = ['', 'requests a second', 'CPU, µs', 'store ÷ this: requests a second', 'CPU'];

/** Lets contenders take turns, every other round in the opposite order: none always runs after the same other. */
export async function race(contenders: Contender[], load: Load): Promise<Section> {
  const turns = new Map<string, Turns>();
  for (const contender of contenders) {
    turns.set(contender.name, { perSecond: [], cpuMicros: [] });
    await turn(contender, { ...load, amount: load.warmUp });
  }
  for (let round = 1; round <= load.rounds; round += 1) {
    for (const contender of round % 2 === 0 ? contenders : contenders.toReversed()) {
      const { perSecond, cpuMicros } = await turn(contender, load);
      turns.get(contender.name)?.perSecond.push(perSecond);
      turns.get(contender.name)?.cpuMicros.push(cpuMicros);
    }
    if (round % 5 === 0) console.error(`  round ${round} of ${load.rounds}`);
  }
  return compare(contenders, turns);
}

function compare(contenders: Contender[], turns: Map<string, Turns>): Section {
  const section: Section = { bars: [], table: [HEAD] };
  for (const { name, store = '', least, metric, most } of contenders) {
    const { perSecond = [], cpuMicros = [] } = turns.get(name) ?? {};
    const row = [name, show(summarize(perSecond)), show(summarize(cpuMicros))];
    section.table.push(row);
    const others = turns.get(store);
    if (!others) continue;
    const speed = ratio(others.perSecond, perSecond);
    const cpu = ratio(others.cpuMicros, cpuMicros);
    row.push(show(speed, 2), show(cpu, 2));
    const spread =
      metric === 'requests in a second of CPU' ? ratio(cpuMicros, others.cpuMicros) : speed;
    const figure = `${store} ÷ ${name}`;
    if (least) {
      section.bars.push({ figure: `${figure}, ${metric}`, least, value: spread.median, spread });
    }
    if (most) {
      section.bars.push({
        figure: `${figure}, CPU of a request`,
        most,
        value: cpu.median,
        spread: cpu,
      });
    }
  }
  return section;
}

async function turn(contender: Contender, { connections, amount }: Load) {
  const { server } = contender;
  const [start, cpu] = [performance.now(), server.cpuMs()];
  let left = amount;
  const isLeft = () => left-- > 0;
  await Promise.all(Array.from({ length: connections }, () => send(contender, isLeft)));
  const perSecond = (amount * 1000) / (performance.now() - start);
  return { perSecond, cpuMicros: ((server.cpuMs() - cpu) * 1000) / amount };
}

/**
 * Sends a request over and over on one connection while `isLeft`. By hand: Node's own clients take as much CPU as the
 * worker that they measure.
 */
function send({ name, server, call, status = 200 }: Contender, isLeft: () => boolean) {
  const { method = 'GET', path, body = '' } = call;
  const length = body && { 'content-length': body.length };
  const headers = Object.entries({ host: 'localhost', ...length, ...headersOf(call) });
  const lines = headers.map(([header, value]) => `${header}: ${value}\r\n`).join('');
  const request = `${method} ${path} HTTP/1.1\r\n${lines}\r\n${body}`;
  return new Promise<void>((resolve, reject) => {
    const socket = connect(server.port, '127.0.0.1').setNoDelay().setEncoding('latin1');
    let response = '';
    const next = () => {
      response = '';
      if (isLeft()) socket.write(request);
      else socket.end(resolve);
    };
    socket.on('connect', next);
    socket.on('data', (chunk) => {
      response += chunk;
      if (!isComplete(response)) return;
      if (response.startsWith(`HTTP/1.1 ${status} `)) next();
      else socket.destroy(new Error(`${name}: expected ${status}, got ${response}`));
    });
    socket.on('error', reject);
    socket.on('close', () => reject(new Error(`${name}: the connection was closed`)));
  });
}

function isComplete(response: string): boolean {
  const end = response.indexOf('\r\n\r\n');
  if (end < 0) return false;
  const length = /^content-length: (\d+)/im.exec(response.slice(0, end))?.[1];
  if (length === undefined) return response.endsWith('\r\n0\r\n\r\n');
  return response.length >= end + 4 + Number(length);
}
