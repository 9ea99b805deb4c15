/**
 * Tests a store as its clients see it. `testReads` writes nothing, and uses the health check and the stable operations
 * alone, so that every version passes it. `smokeTest` also creates an animal, reads, changes and deletes it.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { withNewName } from '../../openapi/new-name.ts';
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

const DESCRIPTION = join(PROJECT_ROOT, 'public/v1/openapi.json');

/** Tests what every version has. @throws Error naming the request that was not answered as expected. */
export async function testReads(store: Store): Promise<void> {
  await waitForVersion(store);
  await call({ ...store, apiKey: 'x' }, 'GET /pets', '401 invalid_api_key');
  await call(store, 'GET /pets?limit=1', '200');
  await call(store, 'GET /pets?limit=0', '400 invalid_request');
}

/** Tests an animal of its own, too. Its name shows an operator what a killed test has left. */
export async function smokeTest(store: Store): Promise<void> {
  await testReads(store);
  const body = withNewName({ ...(await readExample()), name: 'Smoke test' });
  const pet = await call(store, 'POST /pets', '201', body);
  const path = `/pets/${pet.id}`;
  try {
    requireEqual('the created animal', await call(store, `GET ${path}`, '200'), pet);
    const change = { name: `${body.name} changed` };
    const changed = await call(store, `PATCH ${path}`, '200', change);
    requireEqual('the changed animal', changed, { ...pet, ...change });
  } finally {
    await call(store, `DELETE ${path}`, '204');
  }
}

/** The first example of an animal to create, in the description of the released commit. */
async function readExample(): Promise<object> {
  const { paths } = JSON.parse(await readFile(DESCRIPTION, 'utf8'));
  const { examples } = paths['/pets'].post.requestBody.content['application/json'];
  const [example] = Object.values<{ value: object }>(examples);
  return example?.value ?? {};
}

/** Waits for five answers of the version in a row. */
async function waitForVersion(store: Store) {
  const { environment, version } = store;
  const end = Date.now() + SPREAD_MS;
  let answers = 0;
  while (answers < 5) {
    try {
      const health = await call({ ...store, apiKey: '' }, 'GET /health', '200');
      const served = { environment: health.environment, version: health.version };
      requireEqual('GET /health', served, { environment, version });
      answers += 1;
    } catch (cause) {
      store.signal.throwIfAborted();
      if (Date.now() > end) throw new Error(`${store.baseUrl}: ${safeMessage(cause)}`, { cause });
      answers = 0;
      await pause(500);
    }
  }
}

/** Sends a request, and expects a status and code, such as `404 pet_not_found`. Returns the body. */
async function call(store: Store, request: string, expected: string, body?: object) {
  const { status, json } = await sendSafely(store, request, body);
  const found = `${status} ${json.code ?? ''}`.trim();
  if (found === expected) return json;
  const option = store.environment === 'production' ? '--read-only ' : '';
  const command = `npm run keys -- create --label Smoke ${option}--env ${store.environment}`;
  const fix = status === 401 || status === 403 ? `. The key of SMOKE_API_KEY: ${command}` : '';
  throw new Error(`${request}: ${found}, not ${expected}${fix}`);
}

/** Sends a request, and one that only reads once more after a network error. */
async function sendSafely(store: Store, request: string, body?: object) {
  const isRead = request.startsWith('GET ');
  return send(store, request, body)
    .catch((error) => (isRead ? send(store, request) : Promise.reject(error)))
    .catch((cause) => {
      throw new Error(`${request}: ${safeMessage(cause)}`, { cause });
    });
}

async function send(store: Store, request: string, body?: object) {
  const [method = '', path = ''] = request.split(' ');
  const timeout = AbortSignal.timeout(REQUEST_MS);
  const response = await fetch(store.baseUrl + path, {
    method,
    headers: headersOf(store),
    body: body ? JSON.stringify(body) : null,
    // A write that is cut off may still take effect, and then the animal would not be deleted.
    signal: method === 'GET' ? AbortSignal.any([store.signal, timeout]) : timeout,
    redirect: 'manual',
  });
  const isJson = response.headers.get('content-type')?.startsWith('application/json');
  return { status: response.status, json: isJson ? JSON.parse(await response.text()) : {} };
}

function headersOf({ apiKey, override }: Store) {
  return {
    'content-type': 'application/json',
    ...(apiKey && { authorization: `Bearer ${apiKey}` }),
    // https://developers.cloudflare.com/workers/versions-and-deployments/version-overrides/
    ...(override && { 'cloudflare-workers-version-overrides': override }),
  };
}

function requireEqual(what: string, found: unknown, expected: unknown) {
  if (isDeepStrictEqual(found, expected)) return;
  throw new Error(`${what}: ${JSON.stringify({ found, expected })}`);
}
