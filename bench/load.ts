/** Requests a second under load, contenders in turn. */
import autocannon from 'autocannon';
import type { Server } from './contenders.ts';

const CONNECTIONS = 16;
/** Requests of one measurement. */
const AMOUNT = 480;
/** autocannon looks at its counters this often, in ms: at its default, a second, short runs are distorted. */
const SAMPLE_MS = 20;

export type Contender = {
  name: string;
  server: Server;
  path: string;
  /** What it must answer; a measurement with any other answer fails. */
  status: number;
  method?: 'GET' | 'POST';
  headers?: Record<string, string>;
  body?: string;
  /** Whether each request carries an Idempotency-Key of its own. */
  isOnce?: boolean;
};

/** Requests a second of each contender, by name, one figure for each round. */
export type Rounds = Record<string, number[]>;

/**
 * Lets contenders run in turn, round after round, every other round in the opposite order: none always
 * runs after the same other. What an engine does on the first requests is left out by a round before.
 */
export async function race(
  contenders: Contender[],
  rounds: number,
  onRun: (contender: Contender) => void,
): Promise<Rounds> {
  const figures: Rounds = Object.fromEntries(contenders.map(({ name }) => [name, []]));
  for (let round = -1; round < rounds; round += 1) {
    const order = round % 2 === 0 ? contenders : contenders.toReversed();
    for (const contender of order) {
      const figure = await requestsPerSecond(contender);
      if (round >= 0) figures[contender.name]?.push(figure);
      onRun(contender);
    }
  }
  return figures;
}

async function requestsPerSecond(contender: Contender): Promise<number> {
  const { name, server, path, status, method = 'GET', headers = {}, body, isOnce } = contender;
  const start = performance.now();
  const result = await autocannon({
    url: server.origin + path,
    method,
    headers,
    ...(body && { body }),
    connections: CONNECTIONS,
    amount: AMOUNT,
    sampleInt: SAMPLE_MS,
    ...(isOnce && { requests: [{ setupRequest: withIdempotencyKey }] }),
  });
  const seconds = (performance.now() - start) / 1000;
  server.clearLogs();
  const answers = JSON.stringify(result.statusCodeStats);
  if (answers !== JSON.stringify({ [status]: { count: AMOUNT } }) || result.errors > 0)
    throw new Error(`${name}: expected ${AMOUNT} times ${status}, got ${answers}`);
  return AMOUNT / seconds;
}

function withIdempotencyKey(request: autocannon.Request): autocannon.Request {
  return { ...request, headers: { ...request.headers, 'idempotency-key': crypto.randomUUID() } };
}
