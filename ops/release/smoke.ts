/**
 * The smoke test: each operation once, as a client uses it. It removes what it adds. Operations that the store does
 * not describe are left out: a previous release may lack them.
 */
import { randomUUID } from 'node:crypto';
import * as z from 'zod';
import { type AnimalStore, type Pages, StoreError } from '../../client/src/index.ts';
import { DEPRECATION, SUNSET } from '../../src/pets/deprecation.ts';
import { checkHealth, clientOf, expect, fetchFrom, keyCommand, type Store } from './client.ts';

const HOUR_MS = 3_600_000;

const Description = z.object({ paths: z.record(z.string(), z.record(z.string(), z.unknown())) });

/** What a run of the test adds is found again by the keys and ids of its requests, even if an answer is lost. */
type Run = { store: Store; fetch: typeof fetch; name: string } & Record<
  'petKeys' | 'orderKeys' | 'requestIds',
  string[]
>;

/** @throws Error naming the request that was not answered as expected. */
export async function smokeTest(store: Store): Promise<void> {
  const send = fetchFrom(store);
  const requestIds: string[] = [];
  const problems: string[] = [];
  let request = `GET ${store.baseUrl}/health`;
  const fetch: typeof send = async (input, init) => {
    request = `${init?.method ?? 'GET'} ${input}`;
    const response = await send(input, init);
    requestIds.push(response.headers.get('x-request-id') ?? '');
    // The client sends the request again, which hides the error.
    if (response.status >= 500) problems.push(`${request}: status is ${response.status}`);
    return response;
  };
  const name = `Smoke test ${randomUUID()}`;
  const run: Run = { store, fetch, name, petKeys: [], orderKeys: [], requestIds };
  const failure = await testStore(run).catch((error: Error) => error);
  if (failure) problems.push(`${request}: ${failure.message}`);
  const left = await remove(run).catch((error: Error) => error);
  if (left) problems.push(`${name} could not be removed: ${left.message}`);
  const cause = failure ?? left;
  if (problems.length > 0) throw new Error(`smoke test, ${problems.join('; ')}`, { cause });
}

async function testStore({ store, fetch, name, petKeys, orderKeys }: Run): Promise<void> {
  await checkHealth(store);
  const refused = await fetch(`${store.baseUrl}/pets`);
  const scheme = refused.headers.get('www-authenticate')?.split(' ')[0];
  expect('the answer without a key', [refused.status, scheme], [401, 'Bearer']);
  const description = await fetch(`${store.baseUrl}/openapi.json`);
  const { paths } = Description.parse(await description.json());
  const client = clientOf(store, fetch);
  await expectError(client.listPets({ limit: 0 }).page(), 'invalid_request');

  const pet = { name, categoryId: 2n ** 53n + 1n, status: 'sold' } as const;
  const create = (idempotencyKey: string) => client.createPet(pet, { idempotencyKey });
  const sold = await createOnce(petKeys, create).catch((cause) => {
    if (cause.code !== 'insufficient_scope') throw cause;
    const problem = 'the key in SMOKE_API_KEY can only read, and needs write';
    throw new Error(`${problem}: ${keyCommand(store.environment)}`, { cause });
  });
  const returned = await createOnce(petKeys, create);
  const filtered = client.listPets({ limit: 5, status: 'sold' });
  await testList(client.listPets({ limit: 1 }), filtered, 'sold');
  const { data, metadata } = await client.getPet(sold).withMetadata();
  expect('animal', [data.name, data.categoryId === pet.categoryId], [name, true]);
  expect('Deprecation', metadata.headers.get('deprecation'), DEPRECATION);
  expect('Sunset', metadata.headers.get('sunset'), SUNSET);
  if (!paths['/pets/{petId}']?.patch) return;
  for (const id of [sold, returned]) {
    expect('status', (await client.updatePet(id, { status: 'available' })).status, 'available');
  }
  if (paths['/store/orders']) await testOrders(client, orderKeys, sold, returned);
  for (const id of [sold, returned]) {
    await client.deletePet(id);
    await expectError(client.getPet(id), 'pet_not_found');
  }
}

/** Orders two animals: one order is delivered, the other cancelled. */
async function testOrders(client: AnimalStore, keys: string[], sold: bigint, returned: bigint) {
  const order = (petId: bigint) =>
    createOnce(keys, (idempotencyKey) => client.placeOrder({ petId }, { idempotencyKey }));
  const expectPet = async (id: bigint, status: string) =>
    expect('status', (await client.getPet(id)).status, status);
  const delivered = await order(sold);
  await expectPet(sold, 'pending');
  await expectError(client.placeOrder({ petId: sold }), 'pet_not_available');
  await expectError(client.deletePet(sold), 'pet_has_open_order');
  await client.updateOrder(delivered, { status: 'approved' });
  await client.updateOrder(delivered, { status: 'delivered' });
  await expectPet(sold, 'sold');
  expect('status', (await client.getOrder(delivered)).status, 'delivered');
  const cancelled = await order(returned);
  await client.updateOrder(cancelled, { status: 'cancelled' });
  await expectPet(returned, 'available');
  const filtered = client.listOrders({ limit: 5, status: 'cancelled' });
  await testList(client.listOrders({ limit: 1 }), filtered, 'cancelled');
}

/** Reads two pages of one item, as the test has added two, and a page of items with one status. */
async function testList<Item extends { id: bigint; status?: string }>(
  list: Pages<Item>,
  filtered: Pages<Item>,
  status: string,
): Promise<void> {
  const { items, next, metadata } = await list.page();
  expect('Cache-Control', metadata.headers.get('cache-control'), 'private, no-store');
  const [first, second] = [items[0], next && (await list.page(next)).items[0]];
  expect('a second page after the first', first && second && first.id < second.id, true);
  const statuses = (await filtered.page()).items.map((item) => item.status);
  expect('statuses of a filtered list', [...new Set(statuses)], [status]);
}

/** Sends a create twice with one idempotency key, and returns the id of what it created. */
async function createOnce(
  keys: string[],
  create: (key: string) => ReturnType<AnimalStore['createPet' | 'placeOrder']>,
): Promise<bigint> {
  const key = randomUUID();
  keys.push(key);
  const { id } = await create(key);
  const { data, metadata } = await create(key).withMetadata();
  expect('the second answer', [metadata.idempotencyReplayed, data.id === id], [true, true]);
  return id;
}

async function expectError(call: Promise<unknown>, code: string): Promise<void> {
  const found = await call.catch((error: unknown) => error);
  if (found instanceof Error && !(found instanceof StoreError)) throw found;
  expect('code', found instanceof StoreError ? found.code : 'success', code);
}

/** Removes animals, orders and the records of requests, which hold the ids of what was created. */
async function remove({ store, name, petKeys, orderKeys, requestIds }: Run): Promise<void> {
  const records = (keys: string[]) =>
    `FROM idempotency_keys WHERE created_at > ${Date.now() - HOUR_MS}
       AND idempotency_key IN (${keys.map((key) => `'${key.replaceAll("'", '')}'`).join(', ')})`;
  const ids = (keys: string[]) => `id IN (SELECT json_extract(answer, '$.id') ${records(keys)})`;
  const orders = orderKeys.length > 0 ? `DELETE FROM orders WHERE ${ids(orderKeys)};` : '';
  if (petKeys.length === 0) return;
  await store.execute?.(
    `${orders} DELETE FROM pets WHERE name = '${name}' AND ${ids(petKeys)};
     DELETE ${records([...petKeys, ...orderKeys, ...requestIds])}`,
  );
}
