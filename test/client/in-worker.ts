/** Runs the suite in a Worker. */
import { convertV4MiniflareOptions, Miniflare } from 'miniflare';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startServers } from './rude-server.ts';
import { bundle } from './tools.ts';

const WORKER = `
  import * as client from '../../client/src/index.ts';
  import { runSuite } from './suite.ts';
  export default {
    fetch: async (request) => Response.json(await runSuite(client, await request.json())),
  };`;

const addresses = startServers();
let worker: Miniflare;

beforeAll(async () => {
  const script = await bundle(WORKER);
  // Not wrangler's harness: there, requests of the worker go through the fetch of Node.js.
  const options = { modules: true, script, compatibilityDate: '2026-11-01' };
  worker = new Miniflare(convertV4MiniflareOptions(options));
});
afterAll(() => worker.dispose());

test('the suite passes in a Worker', async () => {
  const init = { method: 'POST', body: JSON.stringify(await addresses()) };
  const response = await worker.dispatchFetch('http://worker.example', init);
  expect(await response.json()).toEqual([]);
});
