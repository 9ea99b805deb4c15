/**
 * Tests a store as its clients see it. `testReads` requests the health check and a list only, which every version has.
 * `smokeTest` also creates an animal, and changes, reads and deletes it.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';

export type Endpoint = {
  /** Ends in `/v1`. */
  baseUrl: string;
  apiKey: string;
  /** The version that must answer. */
  version: string;
  /** Names the version that answers, whatever its share is: `worker="version"`. */
  override?: string;
};

/** How long a deployment may take to spread over Cloudflare's network. */
const SPREAD_MS = 60_000;
const REQUEST_MS = 30_000;

/** Requests the health check and a list. @throws Error naming a URL whose answer is not as expected. */
export async function testReads(endpoint: Endpoint): Promise<void> {
  await waitForVersion(endpoint);
  await call({ ...endpoint, apiKey: 'x' }, 'GET /pets', 401);
  await call(endpoint, 'GET /pets?limit=1', 200);
  await call(endpoint, 'GET /pets?limit=0', 400);
}

/** Also creates, changes, reads and deletes an animal, whose name shows an operator that a test has left it. */
export async function smokeTest(endpoint: Endpoint): Promise<void> {
  await testReads(endpoint);
  const name = `Smoke test ${crypto.randomUUID()}`;
  const pet = await call(endpoint, 'POST /pets', 201, { name, categoryId: 1, status: 'available' });
  const path = `/pets/${pet.id}`;
  try {
    const change = { name: `${name} changed` };
    await call(endpoint, `PATCH ${path}`, 200, change);
    const found = await call(endpoint, `GET ${path}`, 200);
    if (!isDeepStrictEqual(found, { ...pet, ...change }))
      throw new Error(`GET ${path}: not the changed animal: ${JSON.stringify(found)}`);
  } finally {
    await call(endpoint, `DELETE ${path}`, 204);
  }
}

/** Waits for five answers of the version in a row, because Cloudflare's machines learn of a deployment one by one. */
async function waitForVersion(endpoint: Endpoint) {
  const deadline = Date.now() + SPREAD_MS;
  let answers = 0;
  while (answers < 5) {
    const { version } = await call(endpoint, 'GET /health', 200);
    if (version === endpoint.version) {
      answers += 1;
      continue;
    }
    if (Date.now() > deadline)
      throw new Error(`${endpoint.baseUrl}: ${version} answers, not ${endpoint.version}`);
    answers = 0;
    await pause(500);
  }
}

/** Sends a request. Returns the body. @throws Error unless the status is the expected one. */
async function call(endpoint: Endpoint, request: string, expected: number, body?: object) {
  const { status, text, isOfWorker } = await sendOrRepeat(endpoint, request, body).catch(
    (cause: Error) => {
      throw new Error(`${request}: ${cause.message}`, { cause });
    },
  );
  if (status === expected) return text ? JSON.parse(text) : {};
  const answer = isOfWorker ? text : 'Cloudflare answered, not the worker: bot protection?';
  throw new Error(
    `${request}: ${status}, not ${expected}. See docs/operations.md#release. ${answer}`,
  );
}

/** Sends a request. After a network error, it sends a GET a second time, because that changes nothing. */
async function sendOrRepeat(endpoint: Endpoint, request: string, body?: object) {
  try {
    return await send(endpoint, request, body);
  } catch (cause) {
    if (!request.startsWith('GET ')) throw cause;
    return send(endpoint, request);
  }
}

async function send({ baseUrl, apiKey, override }: Endpoint, request: string, body?: object) {
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
  // A page of Cloudflare, for example of its bot protection, has no such header.
  const isOfWorker = response.headers.has('x-request-id');
  return { status: response.status, text: await response.text(), isOfWorker };
}
