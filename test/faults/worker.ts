/**
 * The unmodified app with bindings that fail on demand. PUT `/__faults` sets the faults, GET `/__faults` returns
 * the number of calls since then.
 */

import app from '../../src/index.ts';
import { setClock } from './clock.ts';
import { type D1Fault, faultyDatabase } from './d1.ts';

/** How a call fails: it throws, or it never returns. */
export type Failure = 'throws' | 'hangs';

/** The delay of a slow KV read. */
const SLOW_KV_MS = 1_800;

export type Faults = {
  kv?: Failure | 'is slow';
  limiters?: Failure;
  /** The faults of the next calls of D1, in order; later calls work. */
  d1?: D1Fault[];
  /** The faults of calls after those: each fails with probability `rate`, with one of `faults`. */
  d1AtRandom?: { rate: number; faults: D1Fault[]; seed: number };
  /** Sets the time of day to this many milliseconds after the real one, where it stands still. */
  ahead?: number;
  /** Lets the time of day run from there, as fast as the timers. */
  clockRuns?: boolean;
};

/** The number of calls, and of the calls of D1 that had a fault. */
export type Calls = { kvReads: number; addressLimits: number; d1: number; d1Faults: number };

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
      return app.fetch(new Request(request, { headers: anonymous }), faulty, context);
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
} satisfies ExportedHandler<Env>;

function withFaults(env: Env, waitUntil: (promise: Promise<unknown>) => void): Env {
  const failLimiter = () => fail(faults.limiters, 'limiter unavailable');
  return {
    ...env,
    DB: faultyDatabase(env.DB, nextD1Fault, waitUntil),
    API_KEYS: intercept(slowed(env.API_KEYS), 'get', () => {
      calls.kvReads += 1;
      return fail(
        faults.kv === 'is slow' ? undefined : faults.kv,
        'KV GET failed: 500 Internal Server Error',
      );
    }),
    RATE_LIMITER: intercept(env.RATE_LIMITER, 'limit', failLimiter),
    WRITE_RATE_LIMITER: intercept(env.WRITE_RATE_LIMITER, 'limit', failLimiter),
    ADDRESS_RATE_LIMITER: intercept(env.ADDRESS_RATE_LIMITER, 'limit', () => {
      calls.addressLimits += 1;
      return failLimiter();
    }),
  };
}

/** KV, whose calls are delayed while it is slow. */
function slowed(kv: KVNamespace): KVNamespace {
  if (faults.kv !== 'is slow') return kv;
  return new Proxy(kv, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== 'function') return member;
      return async (...args: unknown[]) => {
        await new Promise((resolve) => setTimeout(resolve, SLOW_KV_MS));
        return member.apply(target, args);
      };
    },
  });
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

function fail(failure: Failure | undefined, message: string): Promise<never> | undefined {
  if (failure === 'throws') return Promise.reject(new Error(message));
  if (failure === 'hangs') return new Promise(() => {});
  return undefined;
}

/** The binding, one method of which fails when `failure` returns a promise. */
function intercept<T extends object>(
  binding: T,
  method: keyof T,
  failure: () => Promise<never> | undefined,
): T {
  return new Proxy(binding, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== 'function') return member;
      return (...args: unknown[]) =>
        (name === method ? failure() : undefined) ?? member.apply(target, args);
    },
  });
}
