/** Runs the suite of the client in a browser, on a page of another origin than the store. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { launchBrowser } from './browser.ts';
import { startServers } from './client/rude-server.ts';
import { bundle } from './client/tools.ts';

const SCRIPT = `
  import * as client from '../../client/src/index.ts';
  import { runSuite } from './suite.ts';
  globalThis.runSuite = (addresses) => runSuite(client, addresses);`;

const addresses = startServers();
let browser: Browser;
let page: Page;

beforeAll(async () => {
  browser = await launchBrowser();
  page = await browser.newPage();
  await page.goto((await addresses()).rude);
  await page.addScriptTag({ type: 'module', content: await bundle(SCRIPT) });
});
afterAll(() => browser.close());

test('the suite passes in a browser', async () => {
  expect(await page.evaluate<string[]>(`runSuite(${JSON.stringify(await addresses())})`)).toEqual(
    [],
  );
});
