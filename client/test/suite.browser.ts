/** Runs the suite of the client in a browser, on a page of another origin than the store. */
import { expect, onTestFinished, test } from 'vitest';
import { launchBrowser } from '../../test/support/browser.ts';
import { startServers } from './rude-server.ts';
import { bundle } from './tools.ts';

const SCRIPT = `
  import * as client from '../src/index.ts';
  import { runSuite } from './suite.ts';
  globalThis.runSuite = (addresses) => runSuite(client, addresses, false);`;

const addresses = startServers();
test('the suite passes in a browser', async () => {
  const browser = await launchBrowser();
  onTestFinished(() => browser.close());
  const page = await browser.newPage();
  await page.goto((await addresses()).rude);
  await page.addScriptTag({ type: 'module', content: await bundle(SCRIPT) });
  // A module runs only after its tag is in the page.
  await page.waitForFunction('globalThis.runSuite');
  const script = `runSuite(${JSON.stringify(await addresses())})`;
  expect(await page.evaluate(script)).toEqual([]);
});
