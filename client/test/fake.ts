/** A client whose `fetch` is a list of answers. */
import { vi } from 'vitest';
import { type AnimalStore, createAnimalStore, type StoreOptions } from '../src/index.ts';

export type Answer = () => Promise<Response>;

export const KEY = 'animal-1_local_secret';
export const REX = { name: 'Rex', categoryId: 1n, status: 'available' } as const;

/** The last answer is given again and again. */
export function clientWith(answers: Answer[], options: Partial<StoreOptions> = {}) {
  const requests: Request[] = [];
  const times: number[] = [];
  const fetch = async (url: string, init: RequestInit) => {
    requests.push(new Request(url, init));
    times.push(Date.now());
    if (requests.length > 99) throw new Error('The client does not stop.');
    const answer = answers[requests.length - 1] ?? answers.at(-1) ?? silence;
    return answer();
  };
  const baseUrl = 'https://animal-store.example/v1';
  const store = createAnimalStore({ baseUrl, apiKey: KEY, fetch, ...options });
  return { store, requests, times };
}

export const headerOf = (requests: Request[], name: string) =>
  requests.map(({ headers }) => headers.get(name));

export const pathsOf = (requests: Request[]) =>
  requests.map(({ method, url }) => `${method} ${url.replace('https://animal-store.example', '')}`);

export const reply =
  (body: BodyInit | null, init?: ResponseInit): Answer =>
  async () =>
    new Response(body, init);

export const problem = (status: number, code: string, headers = {}) =>
  reply(JSON.stringify({ code, message: 'a message', status }), { status, headers });

export const rex = reply('{"id":1,"name":"Rex","categoryId":1,"status":"available"}');
export const limited = problem(429, 'rate_limited');
export const unavailable = problem(503, 'service_unavailable');
/** The connection is lost, as Node.js reports it. */
export const lost: Answer = () =>
  Promise.reject(new TypeError('fetch failed', { cause: { code: 'ECONNRESET' } }));
/** No answer ever comes, and the `fetch` ignores its signal. */
export const silence: Answer = () => new Promise(() => {});

/** A call of each method. */
export const CALLS: Record<string, (store: AnimalStore) => Promise<unknown>> = {
  'GET /pets?': (store) => store.listPets().page(),
  'POST /pets': (store) => store.createPet(REX),
  'GET /pets/7': (store) => store.getPet(7n),
  'PATCH /pets/7': (store) => store.updatePet(7n, { name: 'Max' }),
  'DELETE /pets/7': (store) => store.deletePet(7n),
  'GET /store/orders?status=placed': (store) => store.listOrders({ status: 'placed' }).page(),
  'POST /store/orders': (store) => store.placeOrder({ petId: 7n }),
  'GET /store/orders/5': (store) => store.getOrder(5n),
  'PATCH /store/orders/5': (store) => store.updateOrder(5n, { status: 'approved' }),
  'GET /health': (store) => store.getHealth(),
};

/**
 * Lets the time of the fake clock pass until the call has ended, and returns its result or error.
 */
export async function outcomeOf(call: Promise<unknown>) {
  const outcome = call.catch((error: unknown) => error);
  await vi.advanceTimersByTimeAsync(600_000);
  return outcome;
}

export async function itemsOf<T>(list: AsyncIterable<T>): Promise<T[]> {
  const items: T[] = [];
  for await (const item of list) items.push(item);
  return items;
}
