/** Runs the suite of the client in a browser, on a page of another origin than the store. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { launchBrowser } from './browser.ts';
import type { Outcome } from './client/elsewhere.ts';
import { bundle, serveControl } from './client/remote.ts';
import { startControlledStore } from './client/store-under-test.ts';
import { suite } from './client/suite.ts';

/** Runs in the page after the suite was loaded. */
const SCRIPT = `
  import * as client from '../../client/src/index.ts';
  import { remoteControl, runSuite } from './elsewhere.ts';
  globalThis.runBehaviour = (baseUrl, name) =>
    runSuite(client, baseUrl, remoteControl(location.origin), [name]);`;

const { store, control } = startControlledStore();
let controlServer: Awaited<ReturnType<typeof serveControl>>;
let browser: Browser;
let page: Page;

beforeAll(async () => {
  controlServer = await serveControl(control);
  browser = await launchBrowser();
  page = await browser.newPage();
  await page.goto(`${controlServer.address}/`);
  await page.addScriptTag({ type: 'module', content: await bundle(SCRIPT) });
});
afterAll(async () => {
  await browser.close();
  controlServer.close();
});

// Not in a page: no preflight offers PUT.
const names = Object.keys(suite).filter((name) => !name.startsWith('method_not_allowed'));

test.each(names)('%s', async (name) => {
  const call = `runBehaviour(${JSON.stringify(`${store.url()}/v1`)}, ${JSON.stringify(name)})`;
  expect(await page.evaluate<Outcome[]>(call)).toEqual([{ name }]);
});
