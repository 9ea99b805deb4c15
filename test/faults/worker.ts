/**
 * The unmodified app with bindings that fail when they are told to. A test tells it with a PUT to
 * `/__faults`, and asks it with a GET there what has been called since.
 */

import app from '../../src/index.ts';
import { setClock } from './clock.ts';

/** How a call fails: it throws, or it never answers. */
export type Failure = 'throws' | 'hangs';

export type Faults = {
  kv?: Failure;
  limiters?: Failure;
  /** How far the time of day is ahead of the real one, in milliseconds; it stands still from then on. */
  ahead?: number;
};

export type Calls = { kvReads: number; addressLimits: number };

const NO_CALLS: Calls = { kvReads: 0, addressLimits: 0 };

let faults: Faults = {};
let calls = { ...NO_CALLS };

export default {
  async fetch(request, env, context) {
    if (new URL(request.url).pathname !== '/__faults') {
      // Miniflare gives every request an address. One that asks to have none is sent on without.
      const anonymous = new Headers(request.headers);
      if (anonymous.has('x-no-address')) anonymous.delete('cf-connecting-ip');
      return app.fetch(new Request(request, { headers: anonymous }), withFaults(env), context);
    }
    if (request.method === 'PUT') {
      faults = await request.json<Faults>();
      setClock(faults.ahead ?? 0);
      calls = { ...NO_CALLS };
    }
    return Response.json(calls);
  },
} satisfies ExportedHandler<Env>;

function withFaults(env: Env): Env {
  const failLimiter = () => fail(faults.limiters, 'limiter unavailable');
  return {
    ...env,
    API_KEYS: intercept(env.API_KEYS, 'get', () => {
      calls.kvReads += 1;
      return fail(faults.kv, 'KV GET failed: 500 Internal Server Error');
    }),
    RATE_LIMITER: intercept(env.RATE_LIMITER, 'limit', failLimiter),
    ADDRESS_RATE_LIMITER: intercept(env.ADDRESS_RATE_LIMITER, 'limit', () => {
      calls.addressLimits += 1;
      return failLimiter();
    }),
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
