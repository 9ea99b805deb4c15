/**
 * The unmodified app with bindings that fail on demand. PUT `/__faults` sets the faults, or releases held calls; GET
 * `/__faults` returns the number of calls since the faults were set.
 */
import app from '../../src/index.ts';
import { type Clock, setClock, until } from './clock.ts';
import { intercept, interceptD1 } from './d1.ts';
import { callWith, type Fault, finishHeld, heldCalls, makeLate, releaseHeld } from './fault.ts';
import { endRequest, haveEnded, setTurns, type Turns, takeTurn } from './turns.ts';

type Limiter = 'RATE_LIMITER' | 'WRITE_RATE_LIMITER' | 'ADDRESS_RATE_LIMITER';

export type Faults = Clock & {
  /** The variables of the environment; default those of the local one. */
  vars?: Partial<Pick<Env, 'ENVIRONMENT' | 'BASE_URL'>>;
  kv?: Fault;
  limiters?: Fault;
  /** The limiter that has a small limit. */
  limited?: Limiter;
  /** The database has no tables. */
  unmigrated?: boolean;
  /** The faults of the next calls of D1, in order; later calls work. A request can bring its own: `X-D1-Faults`. */
  d1?: Fault[];
  /** The calls of D1 of requests with `X-Client` take turns, and no deadline passes. */
  turns?: Turns;
  /** The app reads a body while the client sends it. By default it gets the whole body, and the clock does not run. */
  streamsBodies?: boolean;
  /** Releases the held calls and waits for the late ones, and changes nothing else. */
  release?: true;
  /** Calls that are held stay so. Otherwise, new faults release them. */
  keepsHeld?: true;
};

const NO_CALLS = { requests: 0, kvReads: 0, keyLimits: 0, addressLimits: 0, d1: 0 };

/** The number of calls. The held ones wait until they are released. */
export type Calls = typeof NO_CALLS & { held: number };

type FaultyEnv = Env & { EMPTY_DB: D1Database; SMALL_RATE_LIMITER: RateLimit };

let faults: Faults = {};
let calls = { ...NO_CALLS };

export default {
  async fetch(request, env, context) {
    if (new URL(request.url).pathname === '/__faults') return control(request);
    calls.requests += 1;
    // Miniflare adds an address to every request. `X-No-Address` removes it.
    const headers = new Headers(request.headers);
    if (headers.has('x-no-address')) headers.delete('cf-connecting-ip');
    const isBuffered = request.body && !faults.streamsBodies;
    const body = isBuffered ? await request.arrayBuffer() : request.body;
    const response = await app.fetch(
      new Request(request, { headers, body }),
      withFaults(env, headers, context),
      context,
    );
    if (headers.has('x-client')) endRequest(Number(headers.get('x-client')));
    return response;
  },
  scheduled: (controller, env, context) =>
    app.scheduled(controller, withFaults(env, new Headers(), context)),
} satisfies ExportedHandler<FaultyEnv>;

async function control(request: Request): Promise<Response> {
  if (request.method === 'PUT') await set(await request.json<Faults>());
  return Response.json({ ...calls, held: heldCalls() } satisfies Calls);
}

async function set(wanted: Faults): Promise<void> {
  if (wanted.release) {
    await finishHeld();
    return until(haveEnded);
  }
  if (!wanted.keepsHeld) releaseHeld();
  faults = wanted;
  calls = { ...NO_CALLS };
  setClock(faults, !faults.turns);
  setTurns(faults.turns ?? { seed: 0, requests: [] });
}

function withFaults(env: FaultyEnv, headers: Headers, context: ExecutionContext): Env {
  const hasTurns = faults.turns !== undefined && headers.has('x-client');
  const client = Number(headers.get('x-client'));
  const ownD1: Fault[] = JSON.parse(headers.get('x-d1-faults') ?? '[]');
  const nextD1 = () => ownD1.shift() ?? faults.d1?.shift();
  const counted = calls;

  /** Counts a call, and makes it with its fault. */
  const caller =
    (count: keyof typeof NO_CALLS | undefined, lost: string, nextFault: () => Fault | undefined) =>
    (call: () => Promise<unknown>) => {
      if (count) counted[count] += 1;
      return callWith(nextFault() ?? 'works', call, {
        lost,
        run: (call) => (hasTurns && count === 'd1' ? takeTurn(client, call) : call()),
        runLate: (call) =>
          context.waitUntil(hasTurns ? takeTurn(client, call, true) : makeLate(call)),
      });
    };

  /** The binding, with each call of one of its methods made by `via`. */
  const faulty = <T extends object>(binding: T, method: string, via: ReturnType<typeof caller>) =>
    intercept(binding, (name, original) =>
      name === method ? (...args: unknown[]) => via(() => original(...args)) : undefined,
    );
  const limiter = (name: Limiter, count?: 'keyLimits' | 'addressLimits') => {
    const binding = faults.limited === name ? env.SMALL_RATE_LIMITER : env[name];
    const via = caller(count, 'limiter unavailable', () => faults.limiters);
    return faulty(binding, 'limit', via);
  };
  const readKv = caller('kvReads', 'KV GET failed: 500 Internal Server Error', () => faults.kv);
  const queryD1 = caller('d1', 'D1_ERROR: Network connection lost.', nextD1);
  return {
    ...{ ...env, ...faults.vars },
    DB: interceptD1(faults.unmigrated ? env.EMPTY_DB : env.DB, queryD1),
    API_KEYS: faulty(env.API_KEYS, 'get', readKv),
    RATE_LIMITER: limiter('RATE_LIMITER', 'keyLimits'),
    WRITE_RATE_LIMITER: limiter('WRITE_RATE_LIMITER'),
    ADDRESS_RATE_LIMITER: limiter('ADDRESS_RATE_LIMITER', 'addressLimits'),
  };
}
