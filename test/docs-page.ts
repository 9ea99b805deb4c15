/** The docs page in a browser, for a test file. Expects that no test causes a warning or an error in it. */
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect } from 'vitest';
import { launchBrowser } from './browser.ts';
import type { Store } from './store.ts';

export function docsPageOf(store: Store) {
  let browser: Browser;
  let page: Page;
  let problems: string[];
  beforeAll(async () => {
    browser = await launchBrowser();
  });
  afterEach(async () => {
    await page.close();
    expect(problems).toEqual([]);
  });
  afterAll(() => browser.close());

  /** Opens the docs page, and records its warnings and errors: failed requests and violations of its policy, too. */
  async function open(options: BrowserContextOptions = {}, origin = store.url()): Promise<Page> {
    page = await browser.newPage(options);
    page.setDefaultTimeout(0); // The test's own timeout does not depend on the machine's speed.
    problems = [];
    page.on('console', (message) => {
      if (['error', 'warning'].includes(message.type())) problems.push(message.text());
    });
    page.on('pageerror', (error) => problems.push(error.message));
    // The store of the tests has no https.
    await page.route(/^https:/, async (route) => {
      const { pathname } = new URL(route.request().url());
      await route.fulfill({ response: await route.fetch({ url: `${store.url()}${pathname}` }) });
    });
    // It may go on to https before it has loaded.
    await page.goto(`${origin}/`, { waitUntil: 'commit' });
    await page.waitForSelector('.opblock');
    return page;
  }

  /** Opens the dialog that asks for the key. */
  async function askForKey() {
    await page.locator('.auth-wrapper').getByRole('button', { name: 'Authorize' }).click();
    return page.locator('.modal-ux');
  }

  async function authorize(key: string): Promise<void> {
    const dialog = await askForKey();
    await dialog.getByRole('textbox', { name: 'Value' }).fill(key);
    await dialog.getByRole('button', { name: 'Authorize' }).click();
    await dialog.getByRole('button', { name: 'Close' }).first().click();
  }

  /** The unfolded operation. */
  async function unfold(operationId: string) {
    const operation = page.locator(`.opblock[id$=-${operationId}]`);
    await operation.locator('.opblock-summary-control').click();
    await operation.getByRole('button', { name: 'Execute' }).waitFor();
    return {
      input: (name: string) => operation.getByLabel(name, { exact: true }),
      /** Presses Execute, and returns the status and body that the page then shows. */
      async execute(): Promise<[status: string, body: string]> {
        const clear = operation.getByRole('button', { name: 'Clear' });
        if (await clear.isVisible()) await clear.click();
        await operation.getByRole('button', { name: 'Execute' }).click();
        const response = operation.locator('.live-responses-table .response').first();
        const status = await response.locator('.response-col_status').innerText();
        return [status.trim(), await response.locator('.highlight-code code').first().innerText()];
      },
    };
  }

  return { open, askForKey, authorize, unfold };
}
