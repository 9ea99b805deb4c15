/**
 * The unmodified app with bindings that fail on demand. PUT `/__faults` sets the faults, or releases held calls; GET
 * `/__faults` returns the number of calls since the faults were set.
 */
import app from '../../src/index.ts';
import { type Clock, callBinding, setClock, until } from './clock.ts';
import { type D1Fault, faultyDatabase } from './d1.ts';
import { endRequest, haveEnded, randomNumbers, setTurns, type Turns, takeTurn } from './turns.ts';

/** How a call fails: it throws, or it never returns. */
export type Failure = 'throws' | 'hangs';
/** A held call returns, or throws, after the test releases it. */
type Held = 'is held' | 'is held, then throws';

/** The delay of a slow KV read. */
const SLOW_KV_MS = 1_500;

type Limiter = 'RATE_LIMITER' | 'WRITE_RATE_LIMITER' | 'ADDRESS_RATE_LIMITER';

export type Faults = Clock & {
  /** The variables of the environment; default those of the local one. */
  vars?: Partial<Pick<Env, 'ENVIRONMENT' | 'BASE_URL'>>;
  /** The clock runs while a call is held past the deadline. */
  kv?: Failure | Held | 'is slow' | 'is held past the deadline';
  limiters?: Failure | Held;
  /** The limiter that has a small limit. */
  limited?: Limiter;
  /** The database has no tables. */
  unmigrated?: boolean;
  /** The faults of the next calls of D1, in order; later calls work. A request can bring its own: `X-D1-Faults`. */
  d1?: D1Fault[];
  /** The faults of calls after those: each fails with probability `rate`, with one of `faults`. */
  d1AtRandom?: { rate: number; faults: D1Fault[]; seed: number };
  /** The calls of D1 of requests with `X-Client` take turns, and no deadline passes. */
  turns?: Turns;
  /** The app reads a body while the client sends it. By default it gets the whole body. */
  streamsBodies?: boolean;
  /** Releases the held calls and waits for the late ones, and changes nothing else. */
  release?: true;
  /** Calls that are held stay so. Otherwise, new faults release them. */
  keepsHeld?: true;
};

/** The number of calls, and of the calls of D1 that had a fault. */
export type Calls = {
  requests: number;
  kvReads: number;
  keyLimits: number;
  addressLimits: number;
  d1: number;
  d1Faults: number;
  /** Calls that wait until they are released. */
  held: number;
};

type FaultyEnv = Env & { EMPTY_DB: D1Database; SMALL_RATE_LIMITER: RateLimit };

const noCalls = (): Omit<Calls, 'held'> => ({
  ...{ requests: 0, kvReads: 0, keyLimits: 0, addressLimits: 0, d1: 0, d1Faults: 0 },
});

let faults: Faults = {};
let calls = noCalls();
let random = () => 1;
/** The calls that wait until they are released. */
let held = { count: 0, late: 0, isReleased: false };

export default {
  async fetch(request, env, context) {
    if (new URL(request.url).pathname === '/__faults') return control(request);
    // Miniflare adds an address to every request. `X-No-Address` removes it.
    const headers = new Headers(request.headers);
    if (headers.has('x-no-address')) headers.delete('cf-connecting-ip');
    const counted = calls;
    counted.requests += 1;
    // The clock does not stop while a body is received.
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
  const wanted = request.method === 'PUT' ? await request.json<Faults>() : undefined;
  if (wanted && !wanted.keepsHeld) {
    held.isReleased = true;
    if (wanted.release) await until(() => held.late === 0 && haveEnded());
    held = { count: 0, late: 0, isReleased: false };
  }
  if (wanted && !wanted.release) {
    faults = wanted;
    calls = noCalls();
    random = randomNumbers(faults.d1AtRandom?.seed ?? 0);
    setClock(faults, !faults.turns);
    setTurns(faults.turns ?? { seed: 0, requests: [] });
  }
  return Response.json({ ...calls, held: held.count } satisfies Calls);
}

/** Waits until the test releases the held calls. */
async function released(): Promise<void> {
  const own = held;
  own.count += 1;
  await until(() => own.isReleased);
  own.count -= 1;
}

/** Makes a call after the test has released it. */
async function makeLate(call: () => Promise<unknown>): Promise<void> {
  const own = held;
  own.late += 1;
  await until(() => own.isReleased);
  await call();
  own.late -= 1;
}

function withFaults(env: FaultyEnv, headers: Headers, context: ExecutionContext): Env {
  const limiter = (name: Limiter, count?: 'keyLimits' | 'addressLimits') => {
    const binding = faults.limited === name ? env.SMALL_RATE_LIMITER : env[name];
    return intercept(binding, 'limit', (call) => {
      if (count) calls[count] += 1;
      return withFault(faults.limiters, 'limiter unavailable', call);
    });
  };
  const client = Number(headers.get('x-client'));
  const hasTurns = faults.turns !== undefined && headers.has('x-client');
  const ownFaults: D1Fault[] = JSON.parse(headers.get('x-d1-faults') ?? '[]');
  const database = faultyDatabase(faults.unmigrated ? env.EMPTY_DB : env.DB, {
    nextFault: () => nextD1Fault(ownFaults),
    waitUntil: (promise) => context.waitUntil(promise),
    run: (call) => (hasTurns ? takeTurn(client, call) : call()),
    runLate: (call) => (hasTurns ? takeTurn(client, call, true) : makeLate(call)),
    released,
  });
  return {
    ...env,
    ...faults.vars,
    DB: database,
    API_KEYS: intercept(env.API_KEYS, 'get', (call) => {
      calls.kvReads += 1;
      return withFault(faults.kv, 'KV GET failed: 500 Internal Server Error', call);
    }),
    RATE_LIMITER: limiter('RATE_LIMITER', 'keyLimits'),
    WRITE_RATE_LIMITER: limiter('WRITE_RATE_LIMITER'),
    ADDRESS_RATE_LIMITER: limiter('ADDRESS_RATE_LIMITER', 'addressLimits'),
  };
}

function nextD1Fault(own: D1Fault[]): D1Fault {
  calls.d1 += 1;
  const { d1 = [], d1AtRandom } = faults;
  let fault = own.shift() ?? d1.shift();
  if (!fault && d1AtRandom && random() < d1AtRandom.rate) {
    fault = d1AtRandom.faults[Math.floor(random() * d1AtRandom.faults.length)];
  }
  if (fault !== undefined && fault !== 'works') calls.d1Faults += 1;
  return fault ?? 'works';
}

/** Makes a call of KV or of a limiter with a fault; `message` is that of its error. */
async function withFault<T>(
  fault: Faults['kv'],
  message: string,
  call: () => Promise<T>,
): Promise<T> {
  if (fault === 'throws') throw new Error(message);
  if (fault === 'hangs') await new Promise(() => {});
  if (fault === 'is slow') await new Promise((resolve) => setTimeout(resolve, SLOW_KV_MS));
  const result = await callBinding(call);
  if (fault === 'is held past the deadline') await released();
  if (fault === 'is held' || fault === 'is held, then throws') await callBinding(() => released());
  if (fault === 'is held, then throws') throw new Error(message);
  return result;
}

/** The binding, with each call of one of its methods made by `via`. */
function intercept<T extends object>(
  binding: T,
  method: keyof T,
  via: (call: () => Promise<unknown>) => Promise<unknown>,
): T {
  return new Proxy(binding, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== 'function') return member;
      if (name !== method) return member.bind(target);
      return (...args: unknown[]) => via(() => member.apply(target, args));
    },
  });
}
