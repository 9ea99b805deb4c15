/** Runs the suite of the client in a Worker. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestHarness } from 'wrangler';
import { PROJECT_ROOT } from '../../ops/wrangler.ts';
import { serveControl } from './remote.ts';
import { startControlledStore } from './store-under-test.ts';
import { suite } from './suite.ts';
import type { Job } from './worker.ts';

const { store, control } = startControlledStore();
const caller = createTestHarness({
  root: PROJECT_ROOT,
  workers: [
    {
      config: {
        name: 'caller',
        main: 'test/client/worker.ts',
        compatibility_date: '2026-11-01',
      },
    },
  ],
});
let url: URL;
let controlServer: Awaited<ReturnType<typeof serveControl>>;

beforeAll(async () => {
  ({ url } = await caller.listen());
  controlServer = await serveControl(control);
});
afterAll(async () => {
  controlServer.close();
  await caller.close();
});

test.each(Object.keys(suite))('%s', async (name) => {
  const job: Job = { baseUrl: `${store.url()}/v1`, controlAddress: controlServer.address, name };
  const response = await fetch(url, { method: 'POST', body: JSON.stringify(job) });
  expect(await response.text()).toBe(JSON.stringify([{ name }]));
});
