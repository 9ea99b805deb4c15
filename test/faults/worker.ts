/**
 * The unmodified app with bindings that fail on demand. PUT `/__faults` sets the faults, and releases the held calls; GET
 * `/__faults` returns the number of calls since the faults were set.
 */
import type { Bindings } from '../../src/context.ts';
import app from '../../src/index.ts';
import { type Clock, setClock } from './clock.ts';
import { intercept, interceptD1 } from './d1.ts';
import {
  callWith,
  type Fault,
  forgetLateCalls,
  heldCalls,
  releaseHeld,
  runLateCalls,
} from './fault.ts';

type Limiter = 'RATE_LIMITER' | 'WRITE_RATE_LIMITER';

export type Faults = Clock & {
  /** The variables and secrets of the environment; default those of the local one. */
  vars?: Partial<Pick<Bindings, 'ENVIRONMENT' | 'BASE_URL' | 'WRITES_STOPPED'>>;
  kv?: Fault;
  limiters?: Fault;
  /** The limiter that has a small limit. */
  limited?: Limiter;
  /** The database has no tables. */
  unmigrated?: boolean;
  /** The faults of the next calls of D1, in order; later calls work. A request can carry its own: `X-D1-Fault`. */
  d1?: Fault[];
  /** The app reads a body while the client sends it. By default it gets the whole body, and the clock does not run. */
  streamsBodies?: boolean;
  /** Releases the held calls, runs the late ones, and changes nothing else. */
  release?: true;
};

const NO_CALLS = { requests: 0, kvReads: 0, keyLimits: 0, d1: 0 };

/**
 * The number of calls, where the sessions of D1 began, and the last argument of the last call of each method, such as the
 * options of `get`. The held calls wait until they are released.
 */
export type Calls = typeof NO_CALLS & {
  held: number;
  sessions: string[];
  last: Record<string, unknown>;
};

type FaultyEnv = Bindings & { EMPTY_DB: D1Database; SMALL_RATE_LIMITER: RateLimit };

let faults: Faults = {};
let calls = { ...NO_CALLS };
let sessions: string[] = [];
let last: Calls['last'] = {};

export default {
  async fetch(request, env, context) {
    if (new URL(request.url).pathname === '/__faults') return control(request);
    calls.requests += 1;
    const isBuffered = request.body && !faults.streamsBodies;
    const body = isBuffered ? await request.arrayBuffer() : request.body;
    return app.fetch(new Request(request, { body }), withFaults(env, request.headers), context);
  },
  scheduled: (controller, env) => app.scheduled(controller, withFaults(env, new Headers())),
} satisfies ExportedHandler<FaultyEnv>;

async function control(request: Request): Promise<Response> {
  if (request.method === 'PUT') await set(await request.json<Faults>());
  return Response.json({ ...calls, held: heldCalls(), sessions, last } satisfies Calls);
}

async function set(wanted: Faults): Promise<void> {
  releaseHeld();
  if (wanted.release) return runLateCalls();
  forgetLateCalls();
  faults = wanted;
  calls = { ...NO_CALLS };
  sessions = [];
  last = {};
  setClock(faults);
}

function withFaults(env: FaultyEnv, headers: Headers): Bindings {
  const nextD1 = () => (headers.get('x-d1-fault') as Fault | null) ?? faults.d1?.shift();
  const counted = calls;

  /** Counts a call, and makes it with its fault. */
  const caller =
    (count: keyof typeof NO_CALLS | undefined, lost: string, nextFault: () => Fault | undefined) =>
    (call: () => Promise<unknown>) => {
      if (count) counted[count] += 1;
      return callWith(nextFault() ?? 'works', call, lost);
    };

  /** The binding, with each call of one of its methods made by `via`. */
  const faulty = <T extends object>(binding: T, method: string, via: ReturnType<typeof caller>) =>
    intercept(binding, (name, original) => {
      if (name !== method) return undefined;
      return (...args: unknown[]) => {
        last[method] = args.at(-1);
        return via(() => original(...args));
      };
    });
  const limiter = (name: Limiter, count?: 'keyLimits') => {
    const binding = faults.limited === name ? env.SMALL_RATE_LIMITER : env[name];
    const via = caller(count, 'limiter unavailable', () => faults.limiters);
    return faulty(binding, 'limit', via);
  };
  const readKv = caller('kvReads', 'KV GET failed: 500 Internal Server Error', () => faults.kv);
  const queryD1 = caller('d1', 'D1_ERROR: Network connection lost.', nextD1);
  const noteSession = (start: string) => sessions.push(start);
  return {
    ...{ ...env, ...faults.vars },
    DB: interceptD1(faults.unmigrated ? env.EMPTY_DB : env.DB, queryD1, noteSession),
    API_KEYS: faulty(env.API_KEYS, 'get', readKv),
    RATE_LIMITER: limiter('RATE_LIMITER', 'keyLimits'),
    WRITE_RATE_LIMITER: limiter('WRITE_RATE_LIMITER'),
  };
}
