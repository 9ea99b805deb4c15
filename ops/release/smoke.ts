/**
 * A store as its clients see it. Production is only read, with a key that has the scope `read` alone. Staging is also
 * written, and a test removes its animals through the API, by the ids that it got.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import * as z from 'zod';
import { oneLine } from '../command-line.ts';

export type Store = {
  environment: string;
  /** Ends in `/v1`. */
  baseUrl: string;
  apiKey: string;
  /** The version that must answer. With its worker it is asked for by name, whatever its share. */
  version?: string;
  worker?: string;
  signal?: AbortSignal;
};
type Sent = { key?: string; body?: unknown; headers?: Record<string, string> };
const Item = z.looseObject({ id: z.number(), status: z.string().optional() });
const Failure = z.object({ code: z.string() });

/** Sends a request. @throws Error unless it has the expected status and code, and the headers that all answers have. */
async function send(store: Store, request: string, expected: string, sent: Sent = {}) {
  const { key = store.apiKey, body } = sent;
  const [method = '', path = ''] = request.split(' ');
  const headers = new Headers({ 'content-type': 'application/json', ...sent.headers });
  if (key) headers.set('authorization', `Bearer ${key}`);
  // https://developers.cloudflare.com/workers/versions-and-deployments/version-overrides/
  const override = `${store.worker}="${store.version}"`;
  if (store.worker) headers.set('cloudflare-workers-version-overrides', override);
  const signals = [AbortSignal.timeout(30_000), store.signal ?? []].flat();
  const init = { method, headers, signal: AbortSignal.any(signals) };
  const url = path.startsWith('/') ? store.baseUrl + path : path;
  const response = await fetch(url, body ? { ...init, body: JSON.stringify(body) } : init);
  const json: unknown = await response.json().catch(() => undefined);
  const header = (name: string) => response.headers.get(name) ?? '';
  const answer = `${response.status} ${Failure.safeParse(json).data?.code ?? ''}`.trim();
  const isSafe = [header('x-content-type-options'), header('x-request-id').length > 0];
  const isPrivate = !key || header('cache-control').includes('no-store');
  expect(request, [answer, ...isSafe, isPrivate], [expected, 'nosniff', true, true]);
  return { json, header };
}

/** @throws Error unless the store is healthy, and the version that must answer does. */
async function checkHealth(store: Store): Promise<void> {
  const { environment, version } = store;
  const { json } = await send(store, 'GET /health', '200', { key: '' });
  expect('health', json, Object.assign({}, json, { environment }, version && { version }));
}

/** Waits for five answers of the version in a row: a deployment takes time to spread over Cloudflare's network. */
export async function waitForVersion(store: Store, limitSeconds: number): Promise<void> {
  const end = Date.now() + limitSeconds * 1000;
  for (let answers = 0; answers < 5; ) {
    const cause = await checkHealth(store).catch((error: Error) => error);
    store.signal?.throwIfAborted();
    if (cause && Date.now() > end) throw new Error(`no answer: ${cause.message}`, { cause });
    answers = cause ? 0 : answers + 1;
    if (cause) await pause(500);
  }
}

/** Checks that the key is valid and has the scopes of its environment. The body is invalid, so nothing is written. */
export async function checkKey(store: Store): Promise<void> {
  const isRead = store.environment === 'production';
  const expected = isRead ? '403 insufficient_scope' : '400 invalid_request';
  const scope = isRead ? ' --read-only' : '';
  const fix = `npm run keys -- create --label Smoke${scope} --env ${store.environment}`;
  await send(store, 'POST /pets', expected, { body: {} }).catch((cause) => {
    if (!/"40[013] /.test(cause.message)) throw cause;
    throw new Error(`SMOKE_API_KEY: ${oneLine(cause)}. To create one: ${fix}`, { cause });
  });
}

/** The smoke test of an environment. @throws Error naming the request that was not answered as expected. */
export async function smokeTest(store: Store, limitSeconds = 60): Promise<void> {
  await waitForVersion(store, limitSeconds);
  await checkKey(store);
  const refused = await send(store, 'GET /pets', '401 missing_api_key', { key: '' });
  expect('WWW-Authenticate', refused.header('www-authenticate').split(' ')[0], 'Bearer');
  await send(store, 'GET /pets?limit=0', '400 invalid_request');
  await send(store, 'GET /pets/-1', '404 pet_not_found');
  await testPages(store, '/store/orders');
  const request = `GET /pets/${(await testPages(store, '/pets')) ?? -1}`;
  // There is none, or a client has deleted it since.
  const isMissing = () => send(store, request, '404 pet_not_found');
  const { header } = await send(store, request, '200').catch(isMissing);
  expect('Deprecation', header('deprecation').length > 0, true);
  if (store.environment !== 'production') await testWriting(store);
}

/** Reads a page of one item and the next page. Returns the first id. */
async function testPages(store: Store, path: string): Promise<number | undefined> {
  const { json, header } = await send(store, `GET ${path}?limit=1`, '200');
  const id = z.array(Item).parse(json)[0]?.id;
  const next = /^<([^>]+)>; rel="next"/.exec(header('link'))?.[1];
  if (!next) return id;
  const [second] = z.array(Item).parse((await send(store, `GET ${next}`, '200')).json);
  expect(`${path}: the next page is later`, (second?.id ?? Infinity) > Number(id), true);
  return id;
}

/** Tests that animals and orders from before migrations end as usual, and that the store works after them. */
export async function testMigrations(store: Store, migrate: () => Promise<void>): Promise<void> {
  await testWriting(store, migrate);
  await smokeTest(store);
}

/** Animals and orders from creation to their end, with something done in between. The orders stay. */
async function testWriting(store: Store, between = async () => {}): Promise<void> {
  const once = { 'idempotency-key': randomUUID() };
  const orders = new Set<number>();
  const pets = new Set<number>();
  const post = async (path: string, body: object, ids: Set<number>, headers = {}) => {
    const { id } = Item.parse((await send(store, `POST ${path}`, '201', { body, headers })).json);
    ids.add(id);
    return id;
  };
  const add = (status?: string, headers = {}) =>
    post('/pets', { name: 'Smoke test', categoryId: 1, status }, pets, headers);
  const order = (petId: number) => post('/store/orders', { petId }, orders);
  const end = (id: number, status: string, using = store) =>
    send(using, `PATCH /store/orders/${id}`, '200', { body: { status } });
  const read = async () => {
    const replies = await Promise.all([...pets].map((id) => send(store, `GET /pets/${id}`, '200')));
    return z.array(Item).parse(replies.map(({ json }) => json));
  };
  try {
    const plain = await add(undefined, once);
    const [sold, returned] = [await add('available'), await add('available')];
    const [delivered, cancelled] = [await order(sold), await order(returned)];
    const before = await read();
    await between();
    expect('the animals', await read(), before);
    expect('the first answer again', await add(undefined, once), plain);
    await send(store, 'POST /store/orders', '409 pet_not_available', { body: { petId: sold } });
    await send(store, `DELETE /pets/${sold}`, '409 pet_has_open_order');
    for (const status of ['approved', 'delivered']) await end(delivered, status);
    await end(cancelled, 'cancelled');
    await end(await order(returned), 'cancelled');
    const statuses = (await read()).map(({ status }) => status);
    expect('the statuses', statuses, [undefined, 'sold', 'available']);
    await send(store, `DELETE /pets/${plain}`, '204');
  } finally {
    // After an interrupt, too.
    const { signal: _, ...cleaning } = store;
    for (const id of orders) await end(id, 'cancelled', cleaning).catch(() => {});
    for (const id of pets) await send(cleaning, `DELETE /pets/${id}`, '204').catch(() => {});
  }
}

function expect(what: string, found: unknown, expected: unknown): void {
  if (isDeepStrictEqual(found, expected)) return;
  throw new Error(`${what}: found ${JSON.stringify(found)}, expected ${JSON.stringify(expected)}`);
}
