/**
 * The unmodified app with bindings that fail when they are told to. A test tells it with a PUT to
 * `/__faults`, and asks it with a GET there what has been called since.
 */

import app from '../../src/index.ts';
import { setClock } from './clock.ts';
import { type D1Fault, faultyDatabase } from './d1.ts';

/** How a call fails: it throws, or it never answers. */
export type Failure = 'throws' | 'hangs';

/** How long KV takes when it is slow, in milliseconds. */
const SLOW_KV_MS = 1_800;

export type Faults = {
  kv?: Failure | 'is slow';
  limiters?: Failure;
  /** What happens to the next calls of D1, in order; those after them work. */
  d1?: D1Fault[];
  /** What happens to the calls after those: with this probability, one of these. */
  d1AtRandom?: { rate: number; faults: D1Fault[]; seed: number };
  /** How far the time of day is ahead of the real one, in milliseconds; it stands still from then on. */
  ahead?: number;
  /** Whether the time of day goes on from there, as fast as time-outs come. */
  clockRuns?: boolean;
};

/** What has been called, and how many calls of D1 were made to fail. */
export type Calls = { kvReads: number; addressLimits: number; d1: number; d1Faults: number };

const NO_CALLS: Calls = { kvReads: 0, addressLimits: 0, d1: 0, d1Faults: 0 };

let faults: Faults = {};
let calls = { ...NO_CALLS };
let random = () => 1;

export default {
  async fetch(request, env, context) {
    if (new URL(request.url).pathname !== '/__faults') {
      // Miniflare gives every request an address. One that asks to have none is sent on without.
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

/** KV, which takes its time to read when it is told to. */
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

/** A small generator of random numbers from 0 to 1 that can be repeated: mulberry32. */
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

/** The binding, one method of which first asks whether it is to fail. */
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
