/**
 * Tests a store as its clients see it. `testReads` writes nothing, and uses the health check and the stable operations
 * alone, which every version has. `smokeTest` also creates an animal, and changes, reads and deletes this animal.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';

export type Store = {
  /** Ends in `/v1`. */
  baseUrl: string;
  apiKey: string;
  /** The version that must answer. */
  version: string;
  /** Such as `worker="version"`: this version answers, whatever its share is. */
  override?: string;
};

/** How long a deployment may take to spread over Cloudflare's network. */
const SPREAD_MS = 60_000;
const REQUEST_MS = 30_000;

/** Tests the operations that every version has. @throws Error naming the request that was not answered as expected. */
export async function testReads(store: Store): Promise<void> {
  await waitForVersion(store);
  await call({ ...store, apiKey: 'x' }, 'GET /pets', 401);
  await call(store, 'GET /pets?limit=1', 200);
  await call(store, 'GET /pets?limit=0', 400);
}

/** Also adds, changes, reads and deletes an animal. Its name shows an operator what a killed test has left. */
export async function smokeTest(store: Store): Promise<void> {
  await testReads(store);
  const name = `Smoke test ${crypto.randomUUID()}`;
  const pet = await call(store, 'POST /pets', 201, { name, categoryId: 1, status: 'available' });
  const path = `/pets/${pet.id}`;
  try {
    const change = { name: `${name} changed` };
    await call(store, `PATCH ${path}`, 200, change);
    const found = await call(store, `GET ${path}`, 200);
    if (!isDeepStrictEqual(found, { ...pet, ...change }))
      throw new Error(`GET ${path}: not the changed animal: ${JSON.stringify(found)}`);
  } finally {
    await call(store, `DELETE ${path}`, 204);
  }
}

/** Waits for five answers of the version in a row, because the machines of Cloudflare learn of it one by one. */
async function waitForVersion(store: Store) {
  const end = Date.now() + SPREAD_MS;
  let answers = 0;
  while (answers < 5) {
    const { version } = await call(store, 'GET /health', 200);
    if (version === store.version) {
      answers += 1;
      continue;
    }
    if (Date.now() > end)
      throw new Error(`${store.baseUrl}: ${version} answers, not ${store.version}`);
    answers = 0;
    await pause(500);
  }
}

/** Sends a request. Returns the body. */
async function call(store: Store, request: string, expected: number, body?: object) {
  const { status, text } = await sendOrRepeat(store, request, body).catch((cause: Error) => {
    throw new Error(`${request}: ${cause.message}`, { cause });
  });
  if (status === expected) return text ? JSON.parse(text) : {};
  const fix = [401, 403].includes(status) ? ' SMOKE_API_KEY: "Release" in docs/operations.md.' : '';
  throw new Error(`${request}: ${status}, not ${expected}.${fix} ${text}`);
}

/** Sends a request. After a network error, it sends a request that only reads once more. */
async function sendOrRepeat(store: Store, request: string, body?: object) {
  try {
    return await send(store, request, body);
  } catch (cause) {
    if (!request.startsWith('GET ')) throw cause;
    return send(store, request);
  }
}

async function send({ baseUrl, apiKey, override }: Store, request: string, body?: object) {
  const [method = '', path = ''] = request.split(' ');
  const response = await fetch(baseUrl + path, {
    method,
    headers: {
      'content-type': 'application/json',
      authorization: `Bearer ${apiKey}`,
      // https://developers.cloudflare.com/workers/versions-and-deployments/version-overrides/
      ...(override && { 'cloudflare-workers-version-overrides': override }),
    },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(REQUEST_MS),
  });
  return { status: response.status, text: await response.text() };
}
