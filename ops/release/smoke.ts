/**
 * Tests a store as its clients see it. `testReads` uses the health check and the stable operations alone, so that every
 * version passes it, and writes nothing. `smokeTest` also creates, reads and lists every described resource, and removes
 * what it has created.
 */
import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { safeMessage } from '../command/command-line.ts';
import { PROJECT_ROOT } from '../command/project-root.ts';

export type Store = {
  environment: string;
  /** Ends in `/v1`. */
  baseUrl: string;
  apiKey: string;
  /** The version that must answer. */
  version: string;
  /** Such as `worker="version"`: this version answers, whatever its share is. */
  override?: string;
  signal: AbortSignal;
};

/** How long a deployment may take to spread over Cloudflare's network. */
const SPREAD_MS = 60_000;
const REQUEST_MS = 30_000;
const CLEAN_UP_MS = 60_000;

const DESCRIPTION = join(PROJECT_ROOT, 'public/v1/openapi.json');

type Content = { body?: object; idempotencyKey?: string };

/** An operation of the description. */
type Operation = {
  requestBody?: {
    content: { 'application/json': { examples: Record<string, { value: object }> } };
  };
};

/** `idName`: the parameter of the path of one item, such as `petId`. */
type Resource = {
  path: string;
  idName: string;
  example: object;
  /** The first example of a PATCH, if there is one. */
  patch: object | undefined;
  isDeletable: boolean;
};
/** The newest id of each resource, by its `idName`. */
type Ids = Record<string, number>;
/** `created`: the paths of what the test has created, the newest first: an order must end before its animal is deleted. */
type TestedStore = Store & { created: string[] };

/** Tests what every version has. @throws Error naming the request that was not answered as expected. */
export async function testReads(store: Store): Promise<void> {
  await waitForVersion(store);
  await requireScopes(store);
  await call({ ...store, apiKey: 'x' }, 'GET /pets', '401 invalid_api_key');
  await call(store, 'GET /pets?limit=0', '400 invalid_request');
  await call(store, 'GET /pets/-1', '404 pet_not_found');
  const [pet] = await readTwoPages(store, '/pets');
  if (!pet) return;
  const { status } = await send(store, `GET /pets/${pet.id}`);
  // Another client may have deleted it.
  if (status !== '404 pet_not_found') requireEqual('GET /pets/{petId}', status, '200');
}

/** Tests every resource by the examples of its description, and an animal until its sale. The orders stay. */
export async function smokeTest(store: Store): Promise<void> {
  await testReads(store);
  const tested = { ...store, created: [] };
  try {
    await testResources(tested);
  } finally {
    await cleanUp(tested);
  }
}

async function testResources(store: TestedStore) {
  const ids: Ids = {};
  const resources = await readResources();
  // In the order of the description: an order names the animal before it.
  for (const resource of resources) ids[resource.idName] = await testResource(store, resource, ids);
  await testSale(store, ids);
  for (const { path, idName, isDeletable } of resources) {
    // The sale has deleted its animal.
    if (isDeletable && path !== '/pets') await call(store, `DELETE ${path}/${ids[idName]}`, '204');
  }
}

/** The resources of the description, which is of the released commit. */
async function readResources(): Promise<Resource[]> {
  const { paths } = JSON.parse(await readFile(DESCRIPTION, 'utf8'));
  return Object.keys(paths).flatMap((itemPath) => {
    const [path = '', parameter] = itemPath.split('/{');
    if (!paths[path]?.post || !parameter) return [];
    const idName = parameter.slice(0, -1);
    const example = firstExample(paths[path].post) ?? {};
    const patch = firstExample(paths[itemPath].patch);
    return [{ path, idName, example, patch, isDeletable: 'delete' in paths[itemPath] }];
  });
}

/** The first example of an operation's body, if it has a body. */
function firstExample(operation?: Operation): object | undefined {
  const examples = operation?.requestBody?.content['application/json'].examples ?? {};
  return Object.values(examples)[0]?.value;
}

/** Creates an item, repeats that, reads it, changes it if that is possible, and lists two pages. Returns its id. */
async function testResource(store: TestedStore, resource: Resource, ids: Ids) {
  const { path, idName, example, patch } = resource;
  // An example names an item of another resource as its path does, such as `petId`.
  const fields = Object.entries(example).map(([name, value]) => [name, ids[name] ?? value]);
  const content = { body: Object.fromEntries(fields), idempotencyKey: randomUUID() };
  const item = await create(store, path, content);
  requireEqual(`the repeated POST ${path}`, await create(store, path, content), item);
  const { json } = await call(store, `GET ${path}/${item.id}`, '200');
  requireEqual(`GET ${path}/{${idName}}`, json, item);
  if (patch) await call(store, `PATCH ${path}/${item.id}`, '200', { body: patch });
  await readTwoPages(store, path);
  return item.id;
}

/** Cancels the order of an animal, orders it again, delivers it, and deletes it. */
async function testSale(store: TestedStore, { petId, orderId }: Ids) {
  const patch = (path: string, body: object) => call(store, `PATCH ${path}`, '200', { body });
  const content = { body: { petId } };
  // testResource has ordered the animal.
  await call(store, 'POST /store/orders', '409 pet_not_available', content);
  await call(store, `DELETE /pets/${petId}`, '409 pet_has_open_order');
  await patch(`/store/orders/${orderId}`, { status: 'cancelled' });
  const { id } = await create(store, '/store/orders', content);
  for (const status of ['approved', 'delivered']) await patch(`/store/orders/${id}`, { status });
  const { json } = await call(store, `GET /pets/${petId}`, '200');
  requireEqual('the status of the sold animal', json.status, 'sold');
  await call(store, `DELETE /pets/${petId}`, '204');
}

async function create(store: TestedStore, path: string, content: Content): Promise<{ id: number }> {
  const { json } = await call(store, `POST ${path}`, '201', content);
  store.created.unshift(`${path}/${json.id}`);
  return json;
}

/** Waits for five answers of the version in a row. */
async function waitForVersion(store: Store) {
  const { environment, version } = store;
  const end = Date.now() + SPREAD_MS;
  let answers = 0;
  while (answers < 5) {
    try {
      const { json } = await call({ ...store, apiKey: '' }, 'GET /health', '200');
      requireEqual('environment', json.environment, environment);
      requireEqual('version', json.version, version);
      answers += 1;
    } catch (cause) {
      store.signal.throwIfAborted();
      if (Date.now() > end) throw new Error(`${store.baseUrl}: ${safeMessage(cause)}`, { cause });
      answers = 0;
      await pause(500);
    }
  }
}

/** The key may write on staging, but only read in production. A create that is invalid in any case shows it. */
async function requireScopes(store: Store) {
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
  const [, next] = /^<[^>?]+(\?[^>]+)>; rel="next"/.exec(link) ?? [];
  // Only its query: the key must not be sent to another host.
  if (next) items.push(...(await call(store, `GET ${path}${next}`, '200')).json);
  const [first, second] = items;
  if (second) requireEqual('the next page is later', second.id > first.id, true);
  return items;
}

/**
 * Removes what the test has created, after an interrupt, too. If the test failed, its error matters more than one here; if
 * it passed, it has removed everything itself.
 */
async function cleanUp({ created, ...store }: TestedStore) {
  const uninterrupted = { ...store, signal: AbortSignal.timeout(CLEAN_UP_MS) };
  for (const path of created) await remove(uninterrupted, path).catch(() => undefined);
}

/** An order has no DELETE (405): it is cancelled, because its animal cannot be deleted while it is open. */
async function remove(store: Store, path: string) {
  const { status } = await send(store, `DELETE ${path}`);
  if (status.startsWith('405'))
    await send(store, `PATCH ${path}`, { body: { status: 'cancelled' } });
}

/** Sends a request, and expects a status and code. */
async function call(store: Store, request: string, expected: string, content?: Content) {
  const answer = await send(store, request, content);
  requireEqual(request, answer.status, expected);
  return answer;
}

/** Sends a request; again after a 429. `status`: such as `200`, or `404 pet_not_found`. */
async function send(store: Store, request: string, content: Content = {}) {
  try {
    const response = await sendUntilAccepted(store, request, content);
    const isJson = response.headers.get('content-type')?.startsWith('application/json');
    const json = isJson ? JSON.parse(await response.text()) : {};
    const link = response.headers.get('link') ?? '';
    return { status: `${response.status} ${json.code ?? ''}`.trim(), json, link };
  } catch (cause) {
    throw new Error(`${request}: ${safeMessage(cause)}`, { cause });
  }
}

async function sendUntilAccepted(store: Store, request: string, content: Content) {
  const [method = '', path = ''] = request.split(' ');
  const signal = AbortSignal.any([store.signal, AbortSignal.timeout(REQUEST_MS)]);
  const body = content.body ? JSON.stringify(content.body) : null;
  const headers = headersOf(store, content);
  const init = { method, signal, headers, body, redirect: 'manual' as const };
  const url = store.baseUrl + path;
  let response = await fetch(url, init);
  while (response.status === 429) {
    await pause(1000 * Number(response.headers.get('retry-after') ?? 1), undefined, { signal });
    response = await fetch(url, init);
  }
  return response;
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

function requireEqual(what: string, found: unknown, expected: unknown) {
  if (isDeepStrictEqual(found, expected)) return;
  throw new Error(`${what}: ${JSON.stringify({ found, expected })}`);
}
