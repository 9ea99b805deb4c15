/**
 * A store as its clients see it. Production is only read, with a key that has the scope `read` alone. Staging is also
 * written, and a test removes its animals through the API, by the ids that it got.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { oneLine } from './command-line.ts';

export type Store = {
  environment: string;
  /** Ends in `/v1`. */
  baseUrl: string;
  apiKey: string;
  /** The version that must answer. */
  version?: string;
  /** Such as `worker="version"`: this version answers, whatever its share is. */
  override?: string;
  signal?: AbortSignal;
};

/** Sends a request. @throws Error unless it has the expected status, code and headers. If `expected` is empty, any will do. */
async function send(store: Store, request: string, expected: string, body?: object, once?: string) {
  const [method = '', path = ''] = request.split(' ');
  // https://developers.cloudflare.com/workers/versions-and-deployments/version-overrides/
  const headers = {
    'content-type': 'application/json',
    ...(store.apiKey && { authorization: `Bearer ${store.apiKey}` }),
    ...(store.override && { 'cloudflare-workers-version-overrides': store.override }),
    ...(once && { 'idempotency-key': once }),
  };
  const signal = AbortSignal.any([AbortSignal.timeout(30_000), store.signal ?? []].flat());
  const init = { method, headers, signal, ...(body && { body: JSON.stringify(body) }) };
  const response = await fetch(path.startsWith('/') ? store.baseUrl + path : path, init);
  const waitMs = 1000 * (Number(response.headers.get('retry-after')) || 1);
  if (response.status === 429 && (await pause(waitMs, true, { signal }).catch(() => false)))
    return send({ ...store, signal }, request, expected, body, once);
  const json = Object(await response.json().catch(() => undefined));
  const header = (name: string) => response.headers.get(name) ?? '';
  const isPrivate = header('cache-control').includes('no-store') && header('x-request-id') !== '';
  const found = [`${response.status} ${json.code ?? ''}`.trim(), header('x-content-type-options')];
  if (expected) expect(request, [...found, isPrivate], [expected, 'nosniff', true]);
  return { json, header };
}

/** Waits for five answers of the version in a row: a deployment takes time to spread over Cloudflare's network. */
export async function waitForVersion(store: Store, limitSeconds: number): Promise<void> {
  const { environment, version } = store;
  const end = Date.now() + limitSeconds * 1000;
  let answers = 0;
  while (answers < 5) {
    try {
      const { json } = await send({ ...store, apiKey: '' }, 'GET /health', '200');
      expect('health', json, { ...json, environment, ...(version && { version }) });
      answers += 1;
    } catch (cause) {
      store.signal?.throwIfAborted();
      if (Date.now() > end) throw new Error(`${store.baseUrl}: ${oneLine(cause)}`, { cause });
      answers = 0;
      await pause(500);
    }
  }
}

/** Checks that the key has the scopes of its environment. The body is invalid, so nothing is written. */
export async function checkKey(store: Store): Promise<void> {
  const isRead = store.environment === 'production';
  const expected = isRead ? '403 insufficient_scope' : '400 invalid_request';
  await send(store, 'POST /pets', expected, {}).catch((cause: Error) => {
    const [answer] = [cause.cause].flat();
    if (!/^40[013] /.test(String(answer)) || answer === expected) throw cause;
    const fix = `npm run keys -- create --label Smoke ${isRead ? '--read-only ' : ''}--env`;
    const message = `SMOKE_API_KEY: ${oneLine(cause)}. To create one: ${fix} ${store.environment}`;
    throw new Error(message, { cause });
  });
}

/**
 * The smoke test. `change` is done while a store that is written has animals and an open order.
 *
 * @throws Error naming the request that was not answered as expected.
 */
export async function smokeTest(store: Store, limitSeconds = 60, change = async () => {}) {
  await waitForVersion(store, limitSeconds);
  await checkKey(store);
  if (store.environment === 'production') await testReading(store);
  else await testWriting(store, change);
}

/** Tests what a client may read. Other clients may change the store at the same time. */
async function testReading(store: Store): Promise<void> {
  const refused = await send({ ...store, apiKey: '' }, 'GET /pets', '401 missing_api_key');
  expect('WWW-Authenticate', refused.header('www-authenticate').split(' ')[0], 'Bearer');
  await send(store, 'GET /pets?limit=0', '400 invalid_request');
  const missing = await send(store, 'GET /pets/-1', '404 pet_not_found');
  expect('Deprecation', missing.header('deprecation') !== '', true);
  for (const list of ['/store/orders', '/pets']) {
    const { json: items, header } = await send(store, `GET ${list}?limit=1`, '200');
    const next = /^<([^>]+)>; rel="next"/.exec(header('link'))?.[1];
    if (next) items.push(...(await send(store, `GET ${next}`, '200')).json);
    const [first, second] = items;
    if (second) expect('the next page is later', second.id > first.id, true);
    if (!first) continue;
    const request = `GET ${list}/${first.id}`;
    const isGone = () => send(store, request, '404 pet_not_found');
    await send(store, request, '200').catch((cause) => isGone().catch(() => Promise.reject(cause)));
  }
}

/** Tests an animal from its creation to its sale, and one without a status. The orders stay. */
async function testWriting(store: Store, change: () => Promise<void>): Promise<void> {
  const created: string[] = [];
  const create = async (path: string, body: object, once?: string) => {
    const { json } = await send(store, `POST ${path}`, '201', body, once);
    // Orders end before their animals are deleted.
    created.unshift(`${path}/${json.id}`);
    return json;
  };
  const animal = { name: 'Smoke test', categoryId: 1 };
  const once = randomUUID();
  try {
    const plain = await create('/pets', animal, once);
    const pet = await create('/pets', { ...animal, status: 'available' });
    const getPet = async () => (await send(store, `GET /pets/${pet.id}`, '200')).json;
    const order = { petId: pet.id };
    const first = await create('/store/orders', order);
    await change();
    expect('the ordered animal', await getPet(), { ...pet, status: 'pending' });
    expect('the first answer again', await create('/pets', animal, once), plain);
    await create('/pets', animal);
    await testReading(store);
    await send(store, 'POST /store/orders', '409 pet_not_available', order);
    await send(store, `DELETE /pets/${pet.id}`, '409 pet_has_open_order');
    await send(store, `PATCH /store/orders/${first.id}`, '200', { status: 'cancelled' });
    const second = await create('/store/orders', order);
    for (const status of ['approved', 'delivered'])
      await send(store, `PATCH /store/orders/${second.id}`, '200', { status });
    expect('the sold animal', await getPet(), { ...pet, status: 'sold' });
    await send(store, `PATCH /pets/${plain.id}`, '200', { name: 'Smoke tested' });
    await send(store, `DELETE /pets/${plain.id}`, '204');
  } finally {
    // After an interrupt, too. Some have ended already.
    const { signal: _, ...cleaning } = store;
    for (const path of created) {
      const request = path.startsWith('/pets') ? `DELETE ${path}` : `PATCH ${path}`;
      await send(cleaning, request, '', { status: 'cancelled' }).catch(() => {});
    }
  }
}

/** The error's cause is what was found. */
function expect(what: string, found: unknown, expected: unknown): void {
  if (isDeepStrictEqual(found, expected)) return;
  const message = `${what}: found ${JSON.stringify(found)}, expected ${JSON.stringify(expected)}`;
  throw new Error(message, { cause: found });
}
