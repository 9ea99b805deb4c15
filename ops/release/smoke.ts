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
const Item = z.looseObject({ id: z.number(), status: z.string().optional() });
const Failure = z.object({ code: z.string() });

/** Sends a request. @throws Error unless it has the expected status and code, and the headers that all answers have. */
async function send(store: Store, request: string, expected: string, body?: object, once?: string) {
  const [method = '', path = ''] = request.split(' ');
  // https://developers.cloudflare.com/workers/versions-and-deployments/version-overrides/
  const override = `${store.worker}="${store.version}"`;
  const headers = {
    'content-type': 'application/json',
    ...(store.apiKey && { authorization: `Bearer ${store.apiKey}` }),
    ...(store.worker && { 'cloudflare-workers-version-overrides': override }),
    ...(once && { 'idempotency-key': once }),
  };
  const signal = AbortSignal.any([AbortSignal.timeout(30_000), store.signal ?? []].flat());
  const init = { method, headers, signal, ...(body && { body: JSON.stringify(body) }) };
  const response = await fetch(path.startsWith('/') ? store.baseUrl + path : path, init);
  const json: unknown = await response.json().catch(() => undefined);
  const header = (name: string) => response.headers.get(name) ?? '';
  const answer = `${response.status} ${Failure.safeParse(json).data?.code ?? ''}`.trim();
  const isPrivate = !store.apiKey || header('cache-control').includes('no-store');
  const isTraced = header('x-request-id') !== '';
  const found = [answer, header('x-content-type-options'), isTraced, isPrivate];
  expect(request, found, [expected, 'nosniff', true, true]);
  return { json, header };
}

/** Waits for five answers of the version in a row: a deployment takes time to spread over Cloudflare's network. */
export async function waitForVersion(store: Store, limitSeconds: number): Promise<void> {
  const { environment, version } = store;
  const end = Date.now() + limitSeconds * 1000;
  for (let answers = 0; answers < 5; answers += 1) {
    try {
      const { json } = await send({ ...store, apiKey: '' }, 'GET /health', '200');
      expect('health', json, Object.assign({}, json, { environment }, version && { version }));
    } catch (cause) {
      store.signal?.throwIfAborted();
      if (Date.now() > end) throw new Error(`no answer: ${oneLine(cause)}`, { cause });
      answers = -1;
      await pause(500);
    }
  }
}

/** Checks that the key is valid and has the scopes of its environment. The body is invalid, so nothing is written. */
export async function checkKey(store: Store): Promise<void> {
  const isRead = store.environment === 'production';
  const expected = isRead ? '403 insufficient_scope' : '400 invalid_request';
  const scope = isRead ? ' --read-only' : '';
  const fix = `npm run keys -- create --label Smoke${scope} --env ${store.environment}`;
  await send(store, 'POST /pets', expected, {}).catch((cause) => {
    if (!/"40[013] /.test(cause.message)) throw cause;
    throw new Error(`SMOKE_API_KEY: ${oneLine(cause)}. To create one: ${fix}`, { cause });
  });
}

/** The smoke test of an environment. @throws Error naming the request that was not answered as expected. */
export async function smokeTest(store: Store, limitSeconds = 60): Promise<void> {
  await waitForVersion(store, limitSeconds);
  await checkKey(store);
  const refused = await send({ ...store, apiKey: '' }, 'GET /pets', '401 missing_api_key');
  expect('WWW-Authenticate', refused.header('www-authenticate').split(' ')[0], 'Bearer');
  await send(store, 'GET /pets?limit=0', '400 invalid_request');
  await send(store, 'GET /pets/-1', '404 pet_not_found');
  await testPages(store, '/store/orders');
  const request = `GET /pets/${(await testPages(store, '/pets')) ?? -1}`;
  // There is none, or a client has deleted it since.
  const isMissing = () => send(store, request, '404 pet_not_found');
  const { header } = await send(store, request, '200').catch(isMissing);
  expect('Deprecation', header('deprecation') !== '', true);
  if (store.environment !== 'production') await testWriting(store);
}

/** Reads a page of one item and the next page. Returns the first id. */
async function testPages(store: Store, path: string): Promise<number | undefined> {
  const first = await send(store, `GET ${path}?limit=1`, '200');
  const [item] = z.array(Item).parse(first.json);
  const next = /^<([^>]+)>; rel="next"/.exec(first.header('link'))?.[1];
  if (!item || !next) return item?.id;
  const [second] = z.array(Item).parse((await send(store, `GET ${next}`, '200')).json);
  expect(`${path}: the next page is later`, !second || second.id > item.id, true);
  return item.id;
}

/** Tests that animals and orders from before migrations end as usual, and that the store works after them. */
export async function testMigrations(store: Store, migrate: () => Promise<void>): Promise<void> {
  await testWriting(store, migrate);
  await smokeTest(store);
}

/** Animals and orders from creation to their end, with something done in between. The orders stay. */
async function testWriting(store: Store, between = async () => {}): Promise<void> {
  const orders = new Set<number>();
  const pets = new Set<number>();
  const post = async (ids: Set<number>, path: string, body: object, once?: string) => {
    const { id } = Item.parse((await send(store, `POST ${path}`, '201', body, once)).json);
    ids.add(id);
    return id;
  };
  const add = (status?: string, once?: string) =>
    post(pets, '/pets', { name: 'Smoke test', categoryId: 1, status }, once);
  const order = (petId: number) => post(orders, '/store/orders', { petId });
  const end = (id: number, status: string, using = store) =>
    send(using, `PATCH /store/orders/${id}`, '200', { status });
  const read = async () => {
    const replies = await Promise.all([...pets].map((id) => send(store, `GET /pets/${id}`, '200')));
    return replies.map(({ json }) => Item.parse(json));
  };
  try {
    const once = randomUUID();
    const plain = await add(undefined, once);
    const [sold, returned] = [await add('available'), await add('available')];
    const [delivered, cancelled] = [await order(sold), await order(returned)];
    const before = await read();
    await between();
    expect('the animals', await read(), before);
    expect('the first answer again', await add(undefined, once), plain);
    await send(store, 'POST /store/orders', '409 pet_not_available', { petId: sold });
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
