/** Requests a second under load, contenders in turn. */
import autocannon from 'autocannon';
import type { Server } from './contenders.ts';

/** Requests that are under way at a time. */
export const CONNECTIONS = 16;
/** Requests of one measurement: few, so that what disturbs the machine meets one contender as it meets the next. */
const AMOUNT = 200;
/** Requests that each server answers before anything is measured. */
const WARM_UP = 3_000;
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
 * Lets the engine optimise what it will: for thousands of requests each worker gets faster, so each server
 * first answers as many, of every kind that it will be asked.
 */
export async function warmUp(contenders: Contender[], onRun: () => void): Promise<void> {
  const byServer = Map.groupBy(contenders, ({ server }) => server);
  for (const own of byServer.values()) {
    for (const contender of own) {
      await requestsPerSecond(contender, Math.ceil(WARM_UP / own.length));
      onRun();
    }
  }
}

/**
 * Lets contenders run in turn, round after round, every other round in the opposite order: none always
 * runs after the same other.
 */
export async function race(
  contenders: Contender[],
  rounds: number,
  onRun: () => void,
): Promise<Rounds> {
  const figures: Rounds = Object.fromEntries(contenders.map(({ name }) => [name, []]));
  for (let round = 0; round < rounds; round += 1) {
    const order = round % 2 === 0 ? contenders : contenders.toReversed();
    for (const contender of order) {
      figures[contender.name]?.push(await requestsPerSecond(contender, AMOUNT));
      onRun();
    }
  }
  return figures;
}

async function requestsPerSecond(contender: Contender, amount: number): Promise<number> {
  const { name, server, path, status, method = 'GET', headers = {}, body, isOnce } = contender;
  const start = performance.now();
  const result = await autocannon({
    url: server.origin + path,
    method,
    headers,
    ...(body && { body }),
    connections: CONNECTIONS,
    amount,
    sampleInt: SAMPLE_MS,
    ...(isOnce && { requests: [{ setupRequest: withIdempotencyKey }] }),
  });
  const seconds = (performance.now() - start) / 1000;
  server.clearLogs();
  const answers = JSON.stringify(result.statusCodeStats);
  if (answers !== JSON.stringify({ [status]: { count: amount } }) || result.errors > 0)
    throw new Error(`${name}: expected ${amount} times ${status}, got ${answers}`);
  return amount / seconds;
}

function withIdempotencyKey(request: autocannon.Request): autocannon.Request {
  return { ...request, headers: { ...request.headers, 'idempotency-key': crypto.randomUUID() } };
}
