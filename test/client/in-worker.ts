/** Runs the suite in a Worker. */
import { convertV4MiniflareOptions, Miniflare } from 'miniflare';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startStore } from '../store.ts';
import { bundle } from './bundle.ts';
import { startRudeServer } from './rude-server.ts';

const WORKER = `
  import * as client from '../../client/src/index.ts';
  import { runSuite } from './suite.ts';
  export default {
    fetch: async (request) => Response.json(await runSuite(client, await request.json())),
  };`;

const store = startStore();
const rude = startRudeServer();
let worker: Miniflare;

beforeAll(async () => {
  const script = await bundle(WORKER);
  // Not wrangler's harness: there, requests of the worker go through the fetch of Node.js.
  const options = { modules: true, script, compatibilityDate: '2026-11-01' };
  worker = new Miniflare(convertV4MiniflareOptions(options));
});
afterAll(() => worker.dispose());

test('the suite passes in a Worker', async () => {
  const addresses = {
    store: `${store.url()}/v1`,
    rude: rude.url(),
    apiKey: await store.issueKey(),
  };
  const init = { method: 'POST', body: JSON.stringify(addresses) };
  const response = await worker.dispatchFetch('http://worker.example', init);
  expect(await response.json()).toEqual([]);
});
