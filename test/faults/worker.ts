/**
 * The unmodified app with bindings that fail on demand. PUT `/__faults` sets the faults, GET `/__faults` returns
 * the number of calls since then.
 */

import app from '../../src/index.ts';
import { callBinding, setClock } from './clock.ts';
import { type D1Fault, faultyDatabase } from './d1.ts';

/** How a call fails: it throws, or it never returns. */
export type Failure = 'throws' | 'hangs';

/** The delay of a slow KV read. */
const SLOW_KV_MS = 1_500;

type Limiter = 'RATE_LIMITER' | 'WRITE_RATE_LIMITER' | 'ADDRESS_RATE_LIMITER';

export type Faults = {
  /** The variables of the environment; default those of the local one. */
  vars?: Partial<Pick<Env, 'ENVIRONMENT' | 'BASE_URL'>>;
  kv?: Failure | 'is slow';
  limiters?: Failure;
  /** The limiter that has a small limit. */
  limited?: Limiter;
  /** The database has no tables. */
  unmigrated?: boolean;
  /** The faults of the next calls of D1, in order; later calls work. */
  d1?: D1Fault[];
  /** The faults of calls after those: each fails with probability `rate`, with one of `faults`. */
  d1AtRandom?: { rate: number; faults: D1Fault[]; seed: number };
  /** Sets the time of day to this many milliseconds after the real one, and stops it. */
  ahead?: number;
  /** Lets the time of day run from there, as fast as the timers. */
  clockRuns?: boolean;
};

/** The number of calls, and of the calls of D1 that had a fault. */
export type Calls = { kvReads: number; addressLimits: number; d1: number; d1Faults: number };

type FaultyEnv = Env & { EMPTY_DB: D1Database; SMALL_RATE_LIMITER: RateLimit };

const NO_CALLS: Calls = { kvReads: 0, addressLimits: 0, d1: 0, d1Faults: 0 };

let faults: Faults = {};
let calls = { ...NO_CALLS };
let random = () => 1;

export default {
  async fetch(request, env, context) {
    if (new URL(request.url).pathname !== '/__faults') {
      // Miniflare adds an address to every request. `X-No-Address` removes it.
      const anonymous = new Headers(request.headers);
      if (anonymous.has('x-no-address')) anonymous.delete('cf-connecting-ip');
      const faulty = withFaults(env, (promise) => context.waitUntil(promise));
      // The clock does not stop while a body is received.
      const body = request.body ? await request.arrayBuffer() : null;
      return app.fetch(new Request(request, { headers: anonymous, body }), faulty, context);
    }
    if (request.method === 'PUT') {
      faults = await request.json<Faults>();
      setClock(faults.ahead ?? 0, faults.clockRuns ?? false);
      calls = { ...NO_CALLS };
      random = mulberry32(faults.d1AtRandom?.seed ?? 0);
    }
    return Response.json(calls);
  },
  scheduled: (controller, env, context) =>
    app.scheduled(
      controller,
      withFaults(env, (promise) => context.waitUntil(promise)),
    ),
} satisfies ExportedHandler<FaultyEnv>;

function withFaults(env: FaultyEnv, waitUntil: (promise: Promise<unknown>) => void): Env {
  const beforeLimit = () => apply(faults.limiters, 'limiter unavailable');
  const limiter = (name: Limiter, before = beforeLimit) =>
    intercept(faults.limited === name ? env.SMALL_RATE_LIMITER : env[name], 'limit', before);
  return {
    ...env,
    ...faults.vars,
    DB: faultyDatabase(faults.unmigrated ? env.EMPTY_DB : env.DB, nextD1Fault, waitUntil),
    API_KEYS: intercept(env.API_KEYS, 'get', () => {
      calls.kvReads += 1;
      return apply(faults.kv, 'KV GET failed: 500 Internal Server Error');
    }),
    RATE_LIMITER: limiter('RATE_LIMITER'),
    WRITE_RATE_LIMITER: limiter('WRITE_RATE_LIMITER'),
    ADDRESS_RATE_LIMITER: limiter('ADDRESS_RATE_LIMITER', () => {
      calls.addressLimits += 1;
      return beforeLimit();
    }),
  };
}

function nextD1Fault(): D1Fault {
  calls.d1 += 1;
  const { d1 = [], d1AtRandom } = faults;
  let fault = d1.shift();
  if (!fault && d1AtRandom && random() < d1AtRandom.rate) {
    fault = d1AtRandom.faults[Math.floor(random() * d1AtRandom.faults.length)];
  }
  if (fault !== undefined && fault !== 'works') calls.d1Faults += 1;
  return fault ?? 'works';
}

/** A small random number generator with a seed; returns numbers from 0 to 1. */
function mulberry32(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

/** Throws, hangs or waits, as the fault says; `message` is that of the error. */
async function apply(fault: Failure | 'is slow' | undefined, message: string): Promise<void> {
  if (fault === 'throws') throw new Error(message);
  if (fault === 'hangs') await new Promise(() => {});
  if (fault === 'is slow') await new Promise((resolve) => setTimeout(resolve, SLOW_KV_MS));
}

/** The binding, with `before` called before each call of one of its methods. */
function intercept<T extends object>(binding: T, method: keyof T, before: () => Promise<void>): T {
  return new Proxy(binding, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== 'function') return member;
      if (name !== method) return member.bind(target);
      return async (...args: unknown[]) => {
        await before();
        return callBinding(() => member.apply(target, args));
      };
    },
  });
}
