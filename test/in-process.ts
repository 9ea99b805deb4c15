/**
 * The app in the test's own process, where a request takes a small part of its time over HTTP. Only for requests
 * that are rejected: it has no D1, so a request that reaches D1 gets a 500.
 */
import { randomUUID } from 'node:crypto';
import { app } from '../src/app.ts';
import { generateKey } from '../src/keys/format.ts';
import { expectDescribed } from './contract.ts';
import type { Reply, Store } from './store.ts';

const unavailable = (): never => {
  throw new Error('the request reached D1');
};
const DB: D1Database = {
  prepare: unavailable,
  batch: unavailable,
  exec: unavailable,
  withSession: unavailable,
  dump: unavailable,
};
const unlimited: RateLimit = { limit: async () => ({ success: true }) };
const context = { waitUntil() {}, passThroughOnException() {}, props: {} };

export type Send = (method: string, path: string, body?: string) => Promise<Reply>;

/** The app with the store's KV. It logs each request: a test that sends many should mute `console.log`. */
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
