/** The requests that are measured. */
import { LOCAL_KEY } from '../ops/local-store.ts';
import { app } from '../src/app.ts';
import { encodeCursor } from '../src/http/cursor.ts';

export type Call = {
  path: string;
  method?: 'POST' | 'PATCH' | 'DELETE';
  body?: string;
  /** Beside `Authorization` and `Content-Type`; or instead of them. */
  headers?: Record<string, string>;
};

const PET = '{"name":"Rex","categoryId":3,"status":"sold"}';

/** One request of each operation, in an order in which all succeed in a store that `addPets` has filled. */
export const OPERATIONS = {
  listPets: { path: '/v1/pets?limit=20' },
  createPet: { method: 'POST', path: '/v1/pets', body: PET },
  getPet: { path: '/v1/pets/4' },
  updatePet: { method: 'PATCH', path: '/v1/pets/4', body: '{"name":"Rex II"}' },
  deletePet: { method: 'DELETE', path: '/v1/pets/2' },
  placeOrder: { method: 'POST', path: '/v1/store/orders', body: '{"petId":1}' },
  listOrders: { path: '/v1/store/orders' },
  getOrder: { path: '/v1/store/orders/1' },
  updateOrder: { method: 'PATCH', path: '/v1/store/orders/1', body: '{"status":"approved"}' },
} satisfies Record<string, Call>;

export function headersOf({ headers }: Call, key = LOCAL_KEY): Record<string, string> {
  return { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers };
}

/** A page of 20 that begins after nine tenths of the pets. */
export function deepPage(pets: number, status = ''): Call {
  const cursor = encodeCursor({ scope: status, lastId: (BigInt(pets) * 9n) / 10n });
  return { path: `/v1/pets?limit=20${status && `&status=${status}`}&cursor=${cursor}` };
}

/** Sends a request to the app in this process, without its log line. What the app leaves for later is added to `behind`. */
export async function sendInProcess(
  call: Call,
  bindings: object,
  key = LOCAL_KEY,
  behind: Promise<unknown>[] = [],
): Promise<Response> {
  const { path, method = 'GET', body } = call;
  const init = { method, headers: headersOf(call, key), ...(body && { body }) };
  const request = new Request(`https://api.animal-store.example${path}`, init);
  const waitUntil = (promise: Promise<unknown>) => void behind.push(promise);
  const { log } = console;
  console.log = () => {};
  try {
    return await app.fetch(request, bindings, {
      waitUntil,
      passThroughOnException() {},
      props: {},
    });
  } finally {
    console.log = log;
  }
}
