/**
 * The app in the test's own process: hundreds of requests in the time of ten over HTTP. Only for requests that are
 * refused: D1 is out of reach, so one that reaches it is answered with a 500.
 */
import { randomUUID } from 'node:crypto';
import { app } from '../src/app.ts';
import { generateKey } from '../src/keys/format.ts';
import { expectDescribed } from './contract.ts';
import type { Reply, Store } from './store.ts';

const outOfReach = (): never => {
  throw new Error('the request reached D1');
};
const DB: D1Database = {
  prepare: outOfReach,
  batch: outOfReach,
  exec: outOfReach,
  withSession: outOfReach,
  dump: outOfReach,
};
const unlimited: RateLimit = { limit: async () => ({ success: true }) };
const context = { waitUntil() {}, passThroughOnException() {}, props: {} };

export type Send = (method: string, path: string, body?: string) => Promise<Reply>;

/** The app with the store's KV. It logs as it does in the worker: a test that sends much mutes `console.log`. */
export async function appInProcess(store: Store): Promise<Send> {
  const key = generateKey('local');
  await store.putRecord(key, { id: randomUUID() });
  const env: Env = {
    ...(await store.bindings()),
    DB,
    RATE_LIMITER: unlimited,
    WRITE_RATE_LIMITER: unlimited,
    ADDRESS_RATE_LIMITER: unlimited,
  };
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  return async (method, path, body) => {
    const init = body === undefined ? { method, headers } : { method, headers, body };
    const response = await app.request(path, init, env, context);
    const text = await response.text();
    const reply = {
      status: response.status,
      headers: response.headers,
      text,
      body: JSON.parse(text),
    };
    expectDescribed(method, path, reply);
    return reply;
  };
}
