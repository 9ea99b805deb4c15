/** Tests a store as its clients see it: `testReads` only reads; `smokeTest` also creates an animal, and changes, reads and deletes it. */
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

/** @throws Error naming a request whose answer is not as expected. */
export async function testReads(endpoint: Endpoint): Promise<void> {
  await waitForVersion(endpoint);
  await call({ ...endpoint, apiKey: 'x' }, 'GET /pets', 401);
  await call(endpoint, 'GET /pets?limit=1', 200);
}

/** The name of the animal shows an operator that a test has left it. */
export async function smokeTest(endpoint: Endpoint): Promise<void> {
  await testReads(endpoint);
  const name = `Smoke test ${crypto.randomUUID()}`;
  const pet = await call(endpoint, 'POST /pets', 201, { name, categoryId: 1, status: 'available' });
  const path = `/pets/${pet.id}`;
  try {
    const changed = await call(endpoint, `PATCH ${path}`, 200, { name: `${name} changed` });
    const found = await call(endpoint, `GET ${path}`, 200);
    if (!isDeepStrictEqual(found, changed)) throw new Error(`GET ${path}: not the changed animal`);
  } finally {
    await call(endpoint, `DELETE ${path}`, 204);
  }
}

/** Waits, up to a minute, for five answers of the version in a row, because Cloudflare's machines learn of a deployment one by one. */
async function waitForVersion(endpoint: Endpoint) {
  const deadline = Date.now() + 60_000;
  for (let answers = 0; answers < 5; answers += 1) {
    const { version } = await call(endpoint, 'GET /health', 200);
    if (version === endpoint.version) continue;
    if (Date.now() > deadline) throw new Error(`${version} answers, not ${endpoint.version}`);
    await pause(500);
    answers = -1;
  }
}

/** Sends a request. Returns the body. @throws Error unless the status is the expected one. */
async function call(endpoint: Endpoint, request: string, expected: number, body?: object) {
  const [method = '', path = ''] = request.split(' ');
  const response = await fetch(endpoint.baseUrl + path, {
    method,
    headers: {
      'content-type': 'application/json',
      authorization: `Bearer ${endpoint.apiKey}`,
      // https://developers.cloudflare.com/workers/versions-and-deployments/version-overrides/
      ...(endpoint.override && { 'cloudflare-workers-version-overrides': endpoint.override }),
    },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(30_000),
  }).catch((cause: Error) => {
    throw new Error(`${request}: ${cause.message}`, { cause });
  });
  const text = await response.text();
  if (response.status === expected) return text ? JSON.parse(text) : {};
  throw new Error(`${request}: ${response.status}, not ${expected}: ${text.slice(0, 300)}`);
}
