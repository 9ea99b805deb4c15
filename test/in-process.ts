/**
 * The app in the test's own process, where a request takes a small part of its time over HTTP. Only for requests
 * that are rejected: it has no D1, so a request that reaches D1 gets a 503.
 */
import { randomUUID } from 'node:crypto';
import { beforeAll, beforeEach, vi } from 'vitest';
import { app } from '../src/app.ts';
import { generateKey } from '../src/auth/key-format.ts';
import { type Reply, type RequestOptions, readReply, type Store } from './store.ts';

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

export type Send = (
  method: string,
  path: string,
  body?: RequestOptions['body'],
  headers?: RequestOptions['headers'],
  environment?: 'staging' | 'production',
) => Promise<Reply>;

/** Gives a test file the app with the store's KV. It logs nothing. */
export function startApp(store: Store): Send {
  const key = generateKey('local');
  let env: Env;
  beforeAll(async () => {
    await store.putRecord(key, { id: randomUUID() });
    env = { ...(await store.bindings()), DB };
    env.RATE_LIMITER = env.WRITE_RATE_LIMITER = unlimited;
  });
  beforeEach(() => {
    const log = vi.spyOn(console, 'log').mockImplementation(() => {});
    return () => log.mockRestore();
  });

  return async (method, path, body, headers = {}, environment) => {
    const sent = new Headers({
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
    });
    for (const [name, value] of Object.entries(headers)) {
      if (value === null) sent.delete(name);
      else sent.set(name, value);
    }
    const init = { method, headers: sent, ...(body !== undefined && { body, duplex: 'half' }) };
    const url = environment ? `https://localhost${path}` : path;
    const vars = environment && { ENVIRONMENT: environment };
    const response = await app.request(url, init, { ...env, ...vars }, context);
    return readReply(method, path, response);
  };
}
