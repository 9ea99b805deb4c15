/** Requests in the test's own process, and its log lines. */
import { vi } from 'vitest';
import { generateKey } from '../../ops/keys/generate-key.ts';
import { parseLines, readReply } from './store.ts';
import { type Call, sendInProcess, stubBindings } from './stubs.ts';

const bindings = stubBindings(async (binding, value) => {
  if (binding === 'D1') throw new Error('the request reached D1');
  return value;
});
const key = generateKey('production');

/**
 * Sends a request that is rejected, much faster than over HTTP. There is no D1: an accepted request
 * is a 503. It logs nothing.
 */
export async function sendWithoutD1(
  method: string,
  path: string,
  body: Call['body'] = null,
  headers: Call['headers'] = {},
) {
  redirectLogs(() => {});
  const response = await sendInProcess({ method, path, body, headers }, bindings, { key });
  return readReply(method, path, response);
}

/** Passes the lines to a function, for the rest of a test. */
function redirectLogs(print: (line: unknown) => void) {
  for (const level of ['log', 'error'] as const) vi.spyOn(console, level).mockImplementation(print);
}

/**
 * Stops the time of day for the rest of a test. Returns its log lines of any level, which are not
 * printed.
 */
export function stopTime(now = Date.now()): () => Record<string, unknown>[] {
  const lines: string[] = [];
  redirectLogs((line) => void lines.push(String(line)));
  vi.useFakeTimers({ now, toFake: ['Date'] });
  return () => parseLines(lines);
}
