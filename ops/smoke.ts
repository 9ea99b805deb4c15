/**
 * Tests a store as its clients see it. `testReads` uses the health check and the stable operations alone, so that every
 * version passes it, and writes nothing. `smokeTest` also uses every other operation, and removes its animals.
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

/** How long a deployment may take to spread over Cloudflare's network. */
const LIMIT_MS = 60_000;

type Content = { body?: object; idempotencyKey?: string };

/** Tests what every version has. @throws Error naming the request that was not answered as expected. */
export async function testReads(store: Store): Promise<void> {
  await waitForVersion(store);
  await checkKey(store);
  await call({ ...store, apiKey: 'x' }, 'GET /pets', '401 invalid_api_key');
  await call(store, 'GET /pets?limit=0', '400 invalid_request');
  await call(store, 'GET /pets/-1', '404 pet_not_found');
  const [pet] = await readTwoPages(store, '/pets');
  if (!pet) return;
  const { status } = await send(store, `GET /pets/${pet.id}`);
  // Another client may have deleted it.
  if (status !== '404 pet_not_found') expect('GET /pets/{petId}', status, '200');
}

/** Tests an animal from its creation to its sale, and one without a status. The orders stay. */
export async function smokeTest(store: Store): Promise<void> {
  await testReads(store);
  const created: string[] = [];
  const create = async (path: string, body: object, idempotencyKey = '') => {
    const { json } = await call(store, `POST ${path}`, '201', { body, idempotencyKey });
    // The newest first: an order ends before its animal is deleted.
    created.unshift(`${path}/${json.id}`);
    return json;
  };
  const patch = (path: string, body: object) => call(store, `PATCH ${path}`, '200', { body });
  const animal = { name: 'Smoke test', categoryId: 1 };
  const idempotencyKey = randomUUID();
  try {
    const plain = await create('/pets', animal, idempotencyKey);
    expect('the repeated create', await create('/pets', animal, idempotencyKey), plain);
    const pet = await create('/pets', { ...animal, status: 'available' });
    const body = { petId: pet.id };
    const first = await create('/store/orders', body);
    await call(store, 'POST /store/orders', '409 pet_not_available', { body });
    await call(store, `DELETE /pets/${pet.id}`, '409 pet_has_open_order');
    await patch(`/store/orders/${first.id}`, { status: 'cancelled' });
    const second = await create('/store/orders', body);
    for (const status of ['approved', 'delivered'])
      await patch(`/store/orders/${second.id}`, { status });
    await call(store, `GET /store/orders/${second.id}`, '200');
    await readTwoPages(store, '/store/orders');
    const { json } = await call(store, `GET /pets/${pet.id}`, '200');
    expect('the sold animal', json, { ...pet, status: 'sold' });
    await patch(`/pets/${plain.id}`, { name: 'Smoke tested' });
    await call(store, `DELETE /pets/${plain.id}`, '204');
  } finally {
    await cleanUp(store, created);
  }
}

/** Waits for five answers of the version in a row. */
async function waitForVersion(store: Store): Promise<void> {
  const { environment, version } = store;
  const end = Date.now() + LIMIT_MS;
  let answers = 0;
  while (answers < 5) {
    try {
      const { json } = await call({ ...store, apiKey: '' }, 'GET /health', '200');
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

/** Checks that the key has exactly the scopes of its environment. The body is invalid, so nothing is written. */
async function checkKey(store: Store): Promise<void> {
  const isProduction = store.environment === 'production';
  const expected = isProduction ? '403 insufficient_scope' : '400 invalid_request';
  const option = isProduction ? '--read-only ' : '';
  const { status } = await send(store, 'POST /pets', { body: {} });
  if (status === expected) return;
  const command = `npm run keys -- create --label Smoke ${option}--env ${store.environment}`;
  throw new Error(`POST /pets: ${status}. If SMOKE_API_KEY is wrong, create it: ${command}`);
}

/** Reads the first two pages of one item, following `Link`. Other clients may change the store at the same time. */
async function readTwoPages(store: Store, path: string): Promise<{ id: number }[]> {
  const { json: items, link } = await call(store, `GET ${path}?limit=1`, '200');
  const next = /^<([^>]+)>; rel="next"/.exec(link)?.[1];
  if (next) items.push(...(await call(store, `GET ${next}`, '200')).json);
  const [first, second] = items;
  if (second) expect('the next page is later', second.id > first.id, true);
  return items;
}

/** Ends the orders and deletes the animals, after an interrupt, too. Some have ended already. */
async function cleanUp({ signal: _, ...store }: Store, created: string[]): Promise<void> {
  for (const path of created) {
    const method = path.startsWith('/pets') ? 'DELETE' : 'PATCH';
    const body = { status: 'cancelled' };
    await send(store, `${method} ${path}`, { body }).catch(() => {});
  }
}

/** Sends a request, and expects a status and code. */
async function call(store: Store, request: string, expected: string, content?: Content) {
  const answer = await send(store, request, content);
  expect(request, answer.status, expected);
  return answer;
}

/** Sends a request; again after a 429. `status`: such as `200`, or `404 pet_not_found`. */
async function send(store: Store, request: string, content: Content = {}) {
  const [method = '', path = ''] = request.split(' ');
  const timeout = AbortSignal.timeout(30_000);
  const signal = AbortSignal.any([timeout, store.signal ?? timeout]);
  const body = content.body && { body: JSON.stringify(content.body) };
  const init = { method, signal, headers: headersOf(store, content), ...body };
  const url = path.startsWith('/') ? store.baseUrl + path : path;
  let response = await fetch(url, init);
  while (response.status === 429) {
    await pause(1000 * Number(response.headers.get('retry-after') ?? 1), undefined, { signal });
    response = await fetch(url, init);
  }
  const json = Object(await response.json().catch(() => undefined));
  const link = response.headers.get('link') ?? '';
  return { status: `${response.status} ${json.code ?? ''}`.trim(), json, link };
}

function headersOf({ apiKey, override }: Store, { idempotencyKey }: Content) {
  return {
    'content-type': 'application/json',
    ...(apiKey && { authorization: `Bearer ${apiKey}` }),
    // https://developers.cloudflare.com/workers/versions-and-deployments/version-overrides/
    ...(override && { 'cloudflare-workers-version-overrides': override }),
    ...(idempotencyKey && { 'idempotency-key': idempotencyKey }),
  };
}

function expect(what: string, found: unknown, expected: unknown): void {
  if (isDeepStrictEqual(found, expected)) return;
  throw new Error(`${what}: ${JSON.stringify({ found, expected })}`);
}
