/** The smoke test: each operation once, as a client uses it. */
import { randomUUID } from 'node:crypto';
import * as z from 'zod';
import { type AnimalStore, type Pages, StoreError } from '../../client/src/index.ts';
import { DEPRECATION, SUNSET } from '../../src/pets/deprecation.ts';
import { checkHealth, clientOf, expect, fetchFrom, type Store } from './client.ts';

/** Rows of another run are removed after this time: until then it may still use them. */
const KEEP_OTHERS_MS = 600_000;

const RUN = `smoke-test-${randomUUID()}`;

type Table = 'pets' | 'orders';
/** The tables that this process has added rows to. */
const added = new Set<Table>();

const Description = z.object({ paths: z.record(z.string(), z.record(z.string(), z.unknown())) });

/** @throws Error naming the request that was not answered as expected. */
export async function smokeTest(store: Store): Promise<void> {
  const send = fetchFrom(store);
  const problems: string[] = [];
  let request = `GET ${store.baseUrl}/health`;
  const fetch: typeof send = async (input, init) => {
    request = `${init?.method ?? 'GET'} ${input}`;
    const response = await send(input, init);
    // The client sends the request again, which hides the error.
    if (response.status >= 500) problems.push(`${request}: status is ${response.status}`);
    return response;
  };
  const cause = await testStore(store, fetch).catch((error: Error) => error);
  if (cause) problems.push(`${request}: ${cause.message}`);
  if (problems.length > 0) throw new Error(`smoke test, ${problems.join('; ')}`, { cause });
}

/**
 * Removes the rows that smoke tests have added: those of this process, and those that a killed one has left. They are
 * found by their Idempotency-Keys, whose records hold the ids; these records expire by themselves after a day.
 */
export async function removeTestRows(execute: (sql: string) => Promise<unknown>): Promise<void> {
  const before = Date.now() - KEEP_OTHERS_MS;
  const statements = [...added].map(
    (table) =>
      `DELETE FROM ${table} WHERE id IN (
         SELECT json_extract(answer, '$.id') FROM idempotency_keys
         WHERE idempotency_key LIKE 'smoke-test-%/${table}/%'
           AND (instr(idempotency_key, '${RUN}') = 1 OR created_at < ${before}))`,
  );
  if (statements.length > 0) await execute(statements.join('; '));
}

async function testStore(store: Store, fetch: ReturnType<typeof fetchFrom>): Promise<void> {
  await checkHealth(store);
  const refused = await fetch(`${store.baseUrl}/pets`);
  const scheme = refused.headers.get('www-authenticate')?.split(' ')[0];
  expect('the answer without a key', [refused.status, scheme], [401, 'Bearer']);
  const description = await fetch(`${store.baseUrl}/openapi.json`);
  const { paths } = Description.parse(await description.json());
  const client = clientOf(store, fetch);
  await expectError(client.listPets({ limit: 0 }).page(), 'invalid_request');

  const pet = { name: RUN, categoryId: 2n ** 53n + 1n, status: 'sold' } as const;
  const create = (idempotencyKey: string) => client.createPet(pet, { idempotencyKey });
  const sold = await createOnce('pets', create);
  const returned = await createOnce('pets', create);
  const filtered = client.listPets({ limit: 5, status: 'sold' });
  await testList(client.listPets({ limit: 1 }), filtered, 'sold');
  const { data, metadata } = await client.getPet(sold).withMetadata();
  expect('animal', [data.name, data.categoryId === pet.categoryId], [RUN, true]);
  expect('Deprecation', metadata.headers.get('deprecation'), DEPRECATION);
  expect('Sunset', metadata.headers.get('sunset'), SUNSET);
  // A previous release may lack the other operations.
  if (!paths['/pets/{petId}']?.patch) return;
  for (const id of [sold, returned]) {
    expect('status', (await client.updatePet(id, { status: 'available' })).status, 'available');
  }
  if (paths['/store/orders']) await testOrders(client, sold, returned);
  for (const id of [sold, returned]) {
    await client.deletePet(id);
    await expectError(client.getPet(id), 'pet_not_found');
  }
}

/** Orders two animals: one order is delivered, the other cancelled. */
async function testOrders(client: AnimalStore, sold: bigint, returned: bigint): Promise<void> {
  const order = (petId: bigint) =>
    createOnce('orders', (idempotencyKey) => client.placeOrder({ petId }, { idempotencyKey }));
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
  table: Table,
  create: (key: string) => ReturnType<AnimalStore['createPet' | 'placeOrder']>,
): Promise<bigint> {
  const key = `${RUN}/${table}/${randomUUID()}`;
  added.add(table);
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
