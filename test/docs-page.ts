/** The docs page in a browser, for a test file. Expects that no test causes a warning or an error in it. */
import { type Browser, chromium, type Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect } from 'vitest';
import { operations } from './contract.ts';
import type { Store } from './store.ts';

/** Debian's Chromium, or the one that CHROMIUM names. */
const EXECUTABLE = process.env.CHROMIUM ?? '/usr/bin/chromium';

/** The ids of operations in the page. */
export const LIST = 'animals-listPets';
export const CREATE = 'animals-createPet';
export const DESCRIBED = operations.map(({ operation }) => ({
  id: `${operation.tags[0]}-${operation.operationId}`,
  stability: operation['x-stability'],
}));

export function docsPageOf(store: Store) {
  let browser: Browser;
  let page: Page;
  let problems: string[];

  beforeAll(async () => {
    const quiet = [
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ];
    const args = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', ...quiet];
    browser = await chromium.launch({ executablePath: EXECUTABLE, args });
  });
  afterEach(async () => {
    await page.close();
    expect(problems).toEqual([]);
  });
  afterAll(() => browser.close());

  /** Opens the docs page, and records its warnings, errors, failed requests, and requests to other origins. */
  async function open(options: Parameters<Browser['newPage']>[0] = {}): Promise<void> {
    page = await browser.newPage(options);
    problems = [];
    page.on('console', (message) => {
      if (['error', 'warning'].includes(message.type())) problems.push(message.text());
    });
    page.on('pageerror', (error) => problems.push(error.message));
    page.on('requestfailed', (request) => problems.push(`failed: ${request.url()}`));
    page.on('request', (request) => {
      if (!request.url().startsWith(store.url()) && !request.url().startsWith('data:')) {
        problems.push(`another origin: ${request.url()}`);
      }
    });
    await page.goto(`${store.url()}/`);
    await page.waitForSelector('.opblock');
  }

  function operation(id: string) {
    return page.locator(`#operations-${id}`);
  }

  async function unfold(ids: string[]): Promise<void> {
    for (const id of ids) {
      await operation(id).locator('.opblock-summary-control').click();
      await operation(id).locator('.execute').waitFor();
    }
  }

  async function openAll(): Promise<void> {
    await unfold(DESCRIBED.map(({ id }) => id));
    for (const button of await page
      .locator('.model-container button, .json-schema-2020-12-accordion')
      .all()) {
      if (await button.isVisible()) await button.click();
    }
  }

  /** Presses Execute, and returns the status and body that the page then shows. */
  async function execute(id: string): Promise<[string, string]> {
    await operation(id).locator('.execute').click();
    const response = operation(id).locator('.live-responses-table .response').first();
    const status = await response.locator('.response-col_status').innerText();
    return [status.trim(), await response.locator('.highlight-code code').first().innerText()];
  }

  async function authorize(key: string): Promise<void> {
    await page.locator('.auth-wrapper .authorize').click();
    await page.locator('.modal-ux input').fill(key);
    await page.locator('.modal-ux .auth-btn-wrapper .authorize').click();
    await page.locator('.modal-ux .btn-done').click();
  }

  return { page: () => page, open, operation, unfold, openAll, execute, authorize };
}
