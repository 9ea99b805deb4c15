/**
 * The app in the test's own process, without D1, where a request takes a small part of its time over HTTP. A request that is
 * accepted reaches D1, and is a 503 here. Only for requests that are rejected.
 */
import { beforeAll, beforeEach, vi } from 'vitest';
import { app } from '../../src/app.ts';
import { headersWith, type RequestOptions, readReply, type Store } from './store.ts';

const unavailable = (): never => {
  throw new Error('the request reached D1');
};
const DB = { prepare: unavailable, withSession: unavailable };
const unlimited = { limit: async () => ({ success: true }) };

/** Gives a test file the app with the store's KV. It logs nothing. */
export function startApp(store: Store) {
  const context = { waitUntil() {}, passThroughOnException() {}, props: {} };
  let env: object;
  let key: string;
  beforeAll(async () => {
    key = await store.issueKey();
    const limiters = { RATE_LIMITER: unlimited, WRITE_RATE_LIMITER: unlimited };
    env = { ...(await store.bindings()), ...limiters, DB };
  });
  beforeEach(() => {
    const log = vi.spyOn(console, 'log').mockImplementation(() => {});
    return () => log.mockRestore();
  });

  return async (
    method: string,
    path: string,
    body?: RequestOptions['body'],
    given?: RequestOptions['headers'],
  ) => {
    const own = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const headers = headersWith({ ...own, ...given });
    const init = { method, headers, ...(body !== undefined && { body }) };
    return readReply(method, path, await app.request(path, init, env, context));
  };
}
