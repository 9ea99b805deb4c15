/** A store as its clients see it: which version answers, the smoke test, and the test of migrations around that. */
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import * as z from 'zod';
import { createAnimalStore, type Pages, StoreError } from '../../client/src/index.ts';

/** `baseUrl` ends in `/v1`. */
export type Store = {
  environment: string;
  baseUrl: string;
  apiKey: string;
  /** The version that must answer, where it matters which. */
  version?: string;
  /** Its worker, to ask for the version by name, whatever its share. */
  worker?: string;
  signal?: AbortSignal;
};

/** Consecutive responses that are required, because a deployment takes time to spread over Cloudflare's network. */
const ANSWERS_IN_A_ROW = 5;
/** Rows of another run are removed after this time: until then it may still use them. */
const KEEP_OTHERS_MS = 600_000;
const ORDERS = '/store/orders';
const RUN = `smoke-test-${randomUUID()}`;

type Client = ReturnType<typeof clientOf>;
type List = Pages<{ id: bigint; status?: string }>;
type Send = typeof fetch;
type Create = (key: string) => ReturnType<Client['createPet' | 'placeOrder']>;
type Table = 'pets' | 'orders';
/** The tables that this process has added rows to. */
const added = new Set<Table>();

const Description = z.object({ paths: z.record(z.string(), z.record(z.string(), z.unknown())) });

/** Waits until the version of a store answers. @throws Error when it has not in time. */
export async function waitForVersion(store: Store, limitSeconds = 60): Promise<void> {
  const end = Date.now() + limitSeconds * 1000;
  for (let answers = 0; answers < ANSWERS_IN_A_ROW; ) {
    const cause = await checkHealth(store, fetchFrom(store)).catch((error: Error) => error);
    store.signal?.throwIfAborted();
    answers = cause ? 0 : answers + 1;
    if (cause && Date.now() > end) {
      const what = `version ${store.version} has not answered within ${limitSeconds} s`;
      throw new Error(`${what}: ${cause.message}`, { cause });
    }
    if (cause) await pause(500);
  }
}

/** @throws Error naming the request that was not answered as expected. */
export async function smokeTest(store: Store): Promise<void> {
  const send = fetchFrom(store);
  const problems: string[] = [];
  let request = '';
  const fetch: Send = async (input, init) => {
    request = `${init?.method ?? 'GET'} ${input}`;
    const response = await send(input, init);
    // The client sends the request again, which hides the error.
    if (response.status >= 500) problems.push(`${request}: status is ${response.status}`);
    return response;
  };
  const cause = await testStore(store, fetch).catch((error: Error) => error);
  if (cause) problems.push(`${request}: ${cause.message}`);
  if (problems.length > 0) throw new Error(`smoke test failed: ${problems.join('; ')}`, { cause });
}

/** Removes the rows that smoke tests added, killed ones too. Their Idempotency-Keys hold the ids for a day. */
export async function removeTestRows(execute: (sql: string) => Promise<unknown>): Promise<void> {
  const before = Date.now() - KEEP_OTHERS_MS;
  const statement = (table: Table) =>
    `DELETE FROM ${table} WHERE id IN (
       SELECT json_extract(answer, '$.id') FROM idempotency_keys
       WHERE idempotency_key LIKE 'smoke-test-%/${table}/%'
         AND (instr(idempotency_key, '${RUN}') = 1 OR created_at < ${before}))`;
  if (added.size > 0) await execute([...added].map(statement).join('; '));
}

/** Tests that animals and orders outlive migrations, open orders can still end, and the smoke test passes. */
export async function testMigrations(store: Store, migrate: () => Promise<unknown>): Promise<void> {
  const client = clientOf(store, fetch);
  // A previous release may lack orders.
  const hasOrders = ORDERS in (await readPaths(store, fetch));
  const read = async () => [
    (await client.listPets().page()).items,
    hasOrders && (await client.listOrders().page()).items,
  ];
  // It leaves a delivered and a cancelled order.
  await smokeTest(store);
  const open: bigint[] = [];
  for (const status of ['available', 'available', 'pending', 'sold'] as const) {
    const { id: petId } = await client.createPet({ name: 'Rex', categoryId: 1n, status });
    if (hasOrders && status === 'available') open.push((await client.placeOrder({ petId })).id);
  }
  const before = await read();
  await migrate();
  if (!isDeepStrictEqual(await read(), before)) throw new Error('animals or orders have changed');
  const ends = [['approved', 'delivered'], ['cancelled']] as const;
  for (const [index, orderId] of open.entries()) {
    for (const status of ends[index] ?? []) await client.updateOrder(orderId, { status });
  }
  await smokeTest(store);
}

async function readPaths({ baseUrl }: Store, send: Send) {
  return Description.parse(await (await send(`${baseUrl}/openapi.json`)).json()).paths;
}

async function testStore(store: Store, fetch: Send): Promise<void> {
  await checkHealth(store, fetch);
  const refused = await fetch(`${store.baseUrl}/pets`);
  const scheme = refused.headers.get('www-authenticate')?.split(' ')[0];
  expect('the answer without a key', [refused.status, scheme], [401, 'Bearer']);
  const paths = await readPaths(store, fetch);
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
  // Any dates: a previous release may have others.
  expect('valid Deprecation', /^@\d+$/.test(metadata.headers.get('deprecation') ?? ''), true);
  expect('valid Sunset', Number.isFinite(Date.parse(metadata.headers.get('sunset') ?? '')), true);
  // A previous release may lack the other operations.
  if (!paths['/pets/{petId}']?.patch) return;
  for (const id of [sold, returned]) {
    expect('status', (await client.updatePet(id, { status: 'available' })).status, 'available');
  }
  if (paths[ORDERS]) await testOrders(client, sold, returned);
  for (const id of [sold, returned]) {
    await client.deletePet(id);
    await expectError(client.getPet(id), 'pet_not_found');
  }
}

/** Orders two animals: one order is delivered, the other cancelled. */
async function testOrders(client: Client, sold: bigint, returned: bigint): Promise<void> {
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
async function testList(list: List, filtered: List, status: string): Promise<void> {
  const { items, next, metadata } = await list.page();
  expect('Cache-Control', metadata.headers.get('cache-control'), 'private, no-store');
  const [first, second] = [items[0], next && (await list.page(next)).items[0]];
  expect('a second page after the first', first && second && first.id < second.id, true);
  const statuses = (await filtered.page()).items.map((item) => item.status);
  expect('statuses of a filtered list', [...new Set(statuses)], [status]);
}

/** Sends a create twice with one idempotency key, and returns the id of what it created. */
async function createOnce(table: Table, create: Create): Promise<bigint> {
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

// https://developers.cloudflare.com/workers/versions-and-deployments/version-overrides/
function fetchFrom({ worker, version, signal }: Store): Send {
  return (input, init = {}) => {
    const signals = [AbortSignal.timeout(30_000), signal, init.signal].filter((each) => !!each);
    const headers = new Headers(init.headers);
    if (worker) headers.set('Cloudflare-Workers-Version-Overrides', `${worker}="${version}"`);
    return fetch(input, { ...init, headers, signal: AbortSignal.any(signals) });
  };
}

/** A client of the store, which retries after rate limiting and brief network errors. */
function clientOf({ baseUrl, apiKey, signal }: Store, fetch: Send) {
  return createAnimalStore({ baseUrl, apiKey, fetch, signal });
}

async function checkHealth({ baseUrl, environment, version }: Store, send: Send) {
  // Not `/v1/health`, which version 1.0.0 does not have.
  const response = await send(new URL('/health', baseUrl));
  expect('status of /health', response.status, 200);
  const health = z.record(z.string(), z.unknown()).parse(await response.json());
  const expected = { ...health, status: 'ok', environment, ...(version && { version }) };
  expect('health', health, expected);
}

function expect(what: string, found: unknown, expected: unknown): void {
  if (isDeepStrictEqual(found, expected)) return;
  throw new Error(`${what} is ${JSON.stringify(found)}, not ${JSON.stringify(expected)}`);
}
