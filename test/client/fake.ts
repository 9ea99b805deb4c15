/** A client whose `fetch` is a list of answers, and calls of it. */
import { vi } from 'vitest';
import type { operations } from '../../client/schema.d.ts';
import {
  type AnimalStore,
  createAnimalStore,
  type Fetch,
  type StoreOptions,
} from '../../client/src/index.ts';

export type Answer = () => ReturnType<Fetch>;

/** A client, and the requests that it sent. The last answer is given again and again. */
export function clientWith(answers: Answer[], options: Partial<StoreOptions> = {}) {
  const requests: Request[] = [];
  const left = [...answers];
  const fetch: Fetch = async (url, init) => {
    requests.push(new Request(url, { ...init, signal: null }));
    const answer = left.length > 1 ? left.shift() : left[0];
    if (!answer) throw new Error('no answer');
    return answer();
  };
  const baseUrl = 'https://animal-store.example/v1';
  return { store: createAnimalStore({ baseUrl, apiKey: 'key', fetch, ...options }), requests };
}

export function json(body: unknown, headers: Record<string, string> = {}): Answer {
  return async () => Response.json(body, { headers });
}

/** An error of the service. */
export function problem(status: number, code: string, others: Record<string, string> = {}): Answer {
  const headers = { 'X-Request-Id': `id-${status}`, ...others };
  return async () => Response.json({ code, message: 'a message', status }, { status, headers });
}

export const REX = { name: 'Rex', categoryId: 1n, status: 'available' } as const;

export const ANSWERS = {
  rex: json({ id: 1, name: 'Rex', categoryId: 1, status: 'available' }),
  limited: problem(429, 'rate_limited'),
  unavailable: problem(503, 'service_unavailable'),
  /** The connection is lost, as Node.js reports it. */
  lost: () => Promise.reject(new TypeError('fetch failed')),
  /** No answer ever comes, and the `fetch` ignores its signal. */
  silence: () => new Promise<never>(() => {}),
};

/** A call of each operation. */
export const CALLS: Record<keyof operations, (store: AnimalStore) => Promise<unknown>> = {
  listPets: (store) => store.listPets().page(),
  createPet: (store) => store.createPet(REX),
  getPet: (store) => store.getPet(1n),
  updatePet: (store) => store.updatePet(1n, { name: 'Max' }),
  deletePet: (store) => store.deletePet(1n),
  listOrders: (store) => store.listOrders().page(),
  placeOrder: (store) => store.placeOrder({ petId: 1n }),
  getOrder: (store) => store.getOrder(1n),
  updateOrder: (store) => store.updateOrder(1n, { status: 'approved' }),
  getHealth: (store) => store.getHealth(),
};

/** Lets the time pass until the call has ended, and returns its result or error. The clock must be a fake. */
export async function outcomeOf(call: Promise<unknown>): Promise<unknown> {
  let hasEnded = false;
  const outcome = call.catch((error: unknown) => error).finally(() => (hasEnded = true));
  // Not all timers: those of other files' servers would move the clock on after the end.
  while (!hasEnded) await vi.advanceTimersToNextTimerAsync();
  return outcome;
}
