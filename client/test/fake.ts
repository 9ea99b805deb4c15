/** A client whose `fetch` is a list of answers. */
import { vi } from 'vitest';
import { type AnimalStore, createAnimalStore, type StoreOptions } from '../src/index.ts';

export type Answer = () => Promise<Response>;

/** As long as a key can be. A parenthesis is special in a regular expression. */
export const KEY = '!animal-1_local_(secret'.padEnd(1_024, '~');
export const REX = { name: 'Rex', categoryId: 1n, status: 'available' } as const;

/** The last answer is given again and again. */
export function clientWith(answers: Answer[], options: Partial<StoreOptions> = {}) {
  const baseUrl = 'https://animal-store.example/v1';
  const requests: Request[] = [];
  const lines: string[] = [];
  const times: number[] = [];
  const fetch = async (url: string, init: RequestInit) => {
    requests.push(new Request(url, init));
    lines.push(init.method + url.replace(baseUrl, ' '));
    times.push(performance.now());
    if (requests.length > 99) throw new Error('The client does not stop.');
    const answer = answers[requests.length - 1] ?? answers.at(-1) ?? silence;
    return answer();
  };
  const store = createAnimalStore({ baseUrl, apiKey: KEY, fetch, ...options });
  return { store, requests, lines, times };
}

export const headerOf = (requests: Request[], name: string) =>
  requests.map(({ headers }) => headers.get(name));

export const reply =
  (body: BodyInit | null, init?: ResponseInit): Answer =>
  async () =>
    new Response(body, init);

export const problem = (status: number, code: string, headers = {}, message = 'a message') =>
  reply(JSON.stringify({ code, message, status }), { status, headers });

export const rex = reply('{"id":1,"name":"Rex","categoryId":1,"status":"available"}');
export const limited = problem(429, 'rate_limited');
export const unavailable = problem(503, 'service_unavailable');
/** The connection is lost. */
export const lost: Answer = () => Promise.reject();
/** No answer ever comes, and the `fetch` ignores its signal. */
export const silence: Answer = () => new Promise(() => {});

/** The request of a call of each method, its name and its arguments. */
export const CALLS = [
  ['GET /pets?', 'listPets', {}],
  ['POST /pets', 'createPet', REX],
  ['GET /pets/7', 'getPet', 7n],
  ['PATCH /pets/7', 'updatePet', 7n, { name: 'Max' }],
  ['DELETE /pets/7', 'deletePet', 7n],
  ['GET /store/orders?status=placed', 'listOrders', { status: 'placed' }],
  ['POST /store/orders', 'placeOrder', { petId: 7n }],
  ['GET /store/orders/5', 'getOrder', 5n],
  ['PATCH /store/orders/5', 'updateOrder', 5n, { status: 'approved' }],
  ['GET /health', 'getHealth'],
] as const;

export async function send(
  store: AnimalStore,
  [, method, ...input]: (typeof CALLS)[number],
  options = {},
) {
  const result = Object(store)[method](...input, options);
  return result.page?.() ?? result;
}

/**
 * Lets the time of the fake clock pass until the call has ended, and returns its result or error.
 */
export async function outcomeOf(call: Promise<unknown>) {
  const outcome = call.catch((error: unknown) => error);
  await vi.advanceTimersByTimeAsync(600_000);
  return outcome;
}
