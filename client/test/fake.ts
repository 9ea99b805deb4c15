/** A client whose `fetch` is a list of answers, and calls of it. */
import { vi } from 'vitest';
import { operations } from '../../test/support/contract.ts';
import {
  type AnimalStore,
  type CallOptions,
  createAnimalStore,
  type Fetch,
  parseJson,
  type StoreOptions,
} from '../src/index.ts';

export type Answer = () => ReturnType<Fetch>;

/** A client, its options, and the requests that it sent. The last answer is given again and again. */
export function clientWith(answers: Answer[], own: Partial<StoreOptions> = {}) {
  const requests: Request[] = [];
  const fetch: Fetch = (url, init) => {
    requests.push(new Request(url, init));
    // A client that does not stop fails.
    if (requests.length > 99) return lost();
    const answer = answers[requests.length - 1] ?? answers.at(-1) ?? lost;
    return answer();
  };
  const baseUrl = 'https://animal-store.example/v1';
  const options = { baseUrl, apiKey: 'key', fetch, ...own };
  return { store: createAnimalStore(options), options, requests };
}

export const headerOf = (requests: Request[], name: string) =>
  requests.map(({ headers }) => headers.get(name));

/** What was asked for, such as `GET /v1/pets?limit=20`. */
export const pathsOf = (requests: Request[]) =>
  requests.map(({ method, url }) => `${method} ${url.replace('https://animal-store.example', '')}`);

export function reply(body: BodyInit | null, init?: ResponseInit): Answer {
  return async () => new Response(body, init);
}

/** An error of the service. */
export function problem(status: number, code: string, headers: Record<string, string> = {}) {
  return reply(JSON.stringify({ code, message: 'a message' }), { status, headers });
}

export const REX = { name: 'Rex', categoryId: 1n, status: 'available' } as const;

export const rex = reply('{"id":1,"name":"Rex","categoryId":1,"status":"available"}');
export const limited = problem(429, 'rate_limited', { 'X-Request-Id': 'id-429' });
export const unavailable = problem(503, 'service_unavailable', { 'X-Request-Id': 'id-503' });
/** The connection is lost, as Node.js reports it. */
export const lost = () => Promise.reject(new TypeError('fetch failed'));
/** No server listens, as Node.js reports it. */
export const refused = () =>
  Promise.reject(new TypeError('fetch failed', { cause: { code: 'ECONNREFUSED' } }));
/** No answer ever comes, and the `fetch` ignores its signal. */
export const silence = () => new Promise<never>(() => {});

export type Call = (store: AnimalStore, options?: CallOptions) => Promise<unknown>;

/** A call of each operation, made from its description. */
export const CALLS: Record<string, Call> = Object.fromEntries(
  operations.map(({ operationId, parameters, path, exampleBody }) => {
    const isList = parameters.some(({ name }) => name === 'limit');
    const args = [
      ...Array.from(path.matchAll(/{/g), () => 1n),
      ...(exampleBody ? [parseJson(JSON.stringify(exampleBody))] : []),
      ...(isList ? [{}] : []),
    ];
    const call: Call = (store, options) => {
      const result = Reflect.get(store, operationId)(...args, options);
      return isList ? result.page() : result;
    };
    return [operationId, call];
  }),
);

/** The real one: in a test, that of the global is a fake. */
const { setImmediate } = globalThis;

/** Lets the time pass until the call has ended, and returns its result or error. The clock must be a fake. */
export async function outcomeOf(call?: Promise<unknown>) {
  let hasEnded = false;
  const outcome = Promise.resolve(call)
    .catch((error: unknown) => error)
    .finally(() => (hasEnded = true));
  // Far more than any call has steps.
  for (let step = 0; step < 1_000; step += 1) {
    // Lets the call do everything that needs no time: otherwise a timer of another file's server would move the clock on.
    await new Promise((resolve) => setImmediate(resolve));
    if (hasEnded) return outcome;
    // Not all timers: those of other files' servers would move the clock on after the end.
    await vi.advanceTimersToNextTimerAsync();
  }
  throw new Error('The call does not end.');
}
