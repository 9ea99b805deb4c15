/**
 * Tests a store as its clients see it: `testReads` only reads; `smokeTest` also creates an animal,
 * and changes, reads and deletes it.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { type Endpoint, request } from '../command/request.ts';

/** `version`: the one that must answer. */
export type Store = Endpoint & { version: string };

/** @throws Error naming a request whose answer is not as expected. */
export async function testReads(store: Store): Promise<void> {
  await waitForVersion(store);
  await request({ ...store, apiKey: 'x' }, 'GET /pets', 401);
  await request(store, 'GET /pets?limit=1', 200);
}

/** The name of the animal shows an operator that a test has left it. */
export async function smokeTest(store: Store): Promise<void> {
  await testReads(store);
  const name = `Smoke test ${crypto.randomUUID()}`;
  const pet = { name, categoryId: 1, status: 'available' };
  const { id } = await request(store, 'POST /pets', 201, pet);
  const path = `/pets/${id}`;
  try {
    const changed = await request(store, `PATCH ${path}`, 200, { name: `${name} changed` });
    const found = await request(store, `GET ${path}`, 200);
    if (!isDeepStrictEqual(found, changed)) throw new Error(`GET ${path}: not the changed animal`);
  } finally {
    await request({ ...store, signal: undefined }, `DELETE ${path}`, 204);
  }
}

/**
 * Waits, up to a minute, for five answers of the version in a row, because Cloudflare's machines
 * learn of a deployment one by one.
 */
async function waitForVersion(store: Store) {
  const deadline = Date.now() + 60_000;
  for (let answers = 0; answers < 5; answers += 1) {
    const { version } = await request(store, 'GET /health', 200);
    if (version === store.version) continue;
    if (Date.now() > deadline) throw new Error(`${version} answers, not ${store.version}`);
    await pause(500, undefined, { signal: store.signal });
    answers = -1;
  }
}
