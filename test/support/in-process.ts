/**
 * The app in the test's own process, for requests that are rejected. It is much faster than over
 * HTTP. There is no D1: an accepted request is a 503.
 */
import { beforeAll, beforeEach, onTestFinished, vi } from 'vitest';
import { app } from '../../src/app.ts';
import { headersWith, parseLines, type RequestOptions, readReply, type Store } from './store.ts';
import { type Stubs, stubLimiters } from './stubs.ts';

const unavailable = (): never => {
  throw new Error('the request reached D1');
};
const DB = { prepare: unavailable, withSession: () => DB };

/** Gives a test file the app with the store's KV. It logs nothing. */
export function startApp(store: Store) {
  let env: Stubs;
  let key: string;
  beforeAll(async () => {
    key = await store.issueKey();
    env = { ...store.bindings(), ...stubLimiters, DB };
  });
  beforeEach(() => redirectLogs(() => {}));

  return async (
    method: string,
    path: string,
    body?: RequestOptions['body'],
    given?: RequestOptions['headers'],
  ) => {
    const own = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const headers = headersWith({ ...own, ...given });
    const init = { method, headers, ...(body !== undefined && { body }) };
    return readReply(method, path, await app.request(path, init, env));
  };
}

/** Passes the lines to a function. Returns what ends that. */
function redirectLogs(print: (line: unknown) => void) {
  const levels = ['log', 'error'] as const;
  const spies = levels.map((level) => vi.spyOn(console, level).mockImplementation(print));
  return () => spies.forEach((spy) => void spy.mockRestore());
}

/**
 * Stops the time of day for the rest of a test. Returns its log lines of any level, which are not
 * printed.
 */
export function stopTime(now = Date.now()): () => Record<string, unknown>[] {
  const lines: string[] = [];
  const print = (line: unknown) => void lines.push(String(line));
  onTestFinished(redirectLogs(print));
  vi.useFakeTimers({ now, toFake: ['Date'] });
  onTestFinished(() => void vi.useRealTimers());
  return () => parseLines(lines);
}
