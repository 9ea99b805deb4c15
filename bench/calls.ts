/** The requests that are measured. */
import { LOCAL_KEY } from '../ops/local/store.ts';
import { app } from '../src/app.ts';

export type Call = {
  path: string;
  method?: string;
  body?: string;
  headers?: Record<string, string>;
};

const PET = '{"name":"Rex","categoryId":3,"status":"sold"}';

/** One request of each operation. In this order all succeed in a store with four animals. */
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

/** Sends a request to the app in this process, with a URL that every environment accepts. */
export function sendInProcess(
  call: Call,
  bindings: object,
  key = LOCAL_KEY,
): Response | Promise<Response> {
  const url = `https://localhost${call.path}`;
  return app.request(url, { ...call, headers: headersOf(call, key) }, bindings);
}
