/** The docs page in a browser: what it shows, and the requests that it sends. No test may cause a warning or an error in it. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { LOCAL_KEY } from '../../ops/local/store.ts';
import { launchBrowser, OTHER_HOST } from '../support/browser.ts';
import { operations } from '../support/contract.ts';
import { startStore } from '../support/store.ts';

const store = startStore();
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
async function open(options: BrowserContextOptions = {}, origin = store.url()) {
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
}

const button = (name: string) => page.getByRole('button', { name });

/** Opens the dialog that asks for the key. */
async function askForKey() {
  await button('Authorize').first().click();
  return page.getByRole('dialog', { name: 'Authorization' });
}

/** Types into the dialog, and closes it. */
async function authorize(text: string) {
  const dialog = await askForKey();
  await dialog.getByLabel('Value').fill(text);
  await dialog.getByRole('button', { name: 'Authorize' }).click();
  await dialog.getByRole('button', { name: 'Close' }).first().click();
}

/** Unfolds an operation. `execute` returns the status and the body that the page then shows. */
async function unfold(operationId: string) {
  const operation = page.locator(`.opblock[id$=-${operationId}]`);
  await operation.locator('.opblock-summary-control').click();
  const execute = operation.getByRole('button', { name: 'Execute' });
  await execute.waitFor();
  return {
    input: (name: string) => operation.getByLabel(name, { exact: true }),
    async execute() {
      await execute.click();
      const response = operation.locator('.live-responses-table .response').first();
      const status = await response.locator('.response-col_status').innerText();
      return [status.trim(), await response.locator('.highlight-code code').first().innerText()];
    },
  };
}

test('the docs page shows the stability of operations, and when getPet ends', async () => {
  await open();
  for (const { operation } of operations) {
    const block = page.locator(`.opblock[id$=-${operation.operationId}]`);
    const stability = await block.locator('.stability').allInnerTexts();
    expect(stability, operation.operationId).toEqual([operation['x-stability'] ?? []].flat());
  }
  await unfold('getPet');
  const deprecated = page.locator('.opblock-deprecated');
  // The rest of it appears after its button.
  await expect.poll(() => deprecated.innerText()).toContain('2030-12-05');
});

test('the key, such as that of a local store, is typed into a password field, and is not in the line of curl', async () => {
  const key = await store.issueKey();
  await open();
  const dialog = await askForKey();
  expect(await dialog.innerText()).toContain(LOCAL_KEY);
  const field = dialog.getByLabel('Value');
  expect(await field.getAttribute('type')).toBe('password');
  expect(await field.getAttribute('autocomplete')).toBe('off');
  await page.keyboard.press('Escape');
  await authorize(key);
  expect(await (await unfold('listPets')).execute()).toEqual(['200', '[]']);
  const curl = await page.locator('.curl-command').innerText();
  expect(curl).toContain("-H 'Authorization: Bearer <API_KEY>'");
  expect(await page.content()).not.toContain(key);
});

test('elsewhere the docs page goes to https before it shows anything, without a key', async () => {
  const http = store.url().replace(/localhost|127\.0\.0\.1/, OTHER_HOST);
  const https = http.replace('http:', 'https:');
  await open({}, http);
  expect(page.url()).toBe(`${https}/docs`);
  const requests = await page.evaluate('performance.getEntries().map(({ name }) => name)');
  expect(requests).toContain(`${https}/v1/openapi.json`);
  expect(await (await askForKey()).innerText()).not.toContain('animal_local');
});

/** Run in the page: where the focus is, and the width of its outline. */
const FOCUS = [
  "[document.activeElement.closest('dialog') ? 'dialog' : document.activeElement.textContent,",
  'getComputedStyle(document.activeElement).outlineWidth]',
].join(' ');
const IN_DIALOG = ['dialog', '3px'];

test('the dialog holds the focus, shows it, and gives it back', async () => {
  await open();
  for (const { key, from } of [
    { key: 'Escape', from: 'Authorize' },
    { key: 'Enter', from: 'Close' },
  ]) {
    const dialog = await askForKey();
    await expect.poll(() => page.evaluate(FOCUS)).toEqual(IN_DIALOG);
    await dialog.getByRole('button', { name: from }).last().focus();
    // After the last element, the browser's own controls have the focus, and then the first one.
    for (const step of ['Tab', 'Tab', 'Tab', 'Shift+Tab']) await page.keyboard.press(step);
    await expect.poll(() => page.evaluate(FOCUS)).toEqual(IN_DIALOG);
    await dialog.getByRole('button', { name: from }).last().focus();
    await page.keyboard.press(key);
    // Not by its role: a closed dialog that is still there has none.
    await expect.poll(() => page.locator('.modal-ux').count()).toBe(0);
    await expect.poll(() => page.evaluate(FOCUS)).toEqual(['Authorize', '3px']);
  }
});

test('requests of the docs page are sent as written, and integers are shown exactly', async () => {
  await open();
  await authorize(`Bearer ${await store.issueKey()}`);
  const createPet = await unfold('createPet');
  const pet = '"name":"Rex","categoryId":9007199254740993,"status":"sold"}';
  await createPet.input('Request body').fill(`{${pet}`);
  expect(await createPet.execute()).toEqual(['201', `{"id":1,${pet}`]);
  await button('Clear').click();
  expect(await createPet.execute()).toEqual(['201', `{"id":2,${pet}`]);
  const updatePet = await unfold('updatePet');
  await updatePet.input('petId').fill('1');
  await updatePet.input('Request body').fill('{"status":"pending"}');
  expect(await updatePet.execute()).toEqual(['200', expect.stringContaining('"pending"')]);
  const listPets = await unfold('listPets');
  await listPets.input('status').selectOption('sold');
  expect(await listPets.execute()).toEqual(['200', `[{"id":2,${pet}]`]);
});

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const RULES = {
  runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'],
  rules: { 'heading-order': { enabled: true } },
};
/** Run in the page: violations of any rule of level A or AA, and headings that leave out a level. */
const VIOLATIONS = `axe.run(${JSON.stringify(RULES)}).then((result) => result.violations)`;

test.each(['light', 'dark'] as const)(
  'everybody can read the docs page in %s',
  async (colorScheme) => {
    await open({ colorScheme });
    await page.evaluate(axe);
    await askForKey();
    expect(await page.evaluate(VIOLATIONS)).toEqual([]);
    await page.keyboard.press('Escape');
    await authorize(`Authorization: Bearer ${await store.issueKey()}`);
    const listPets = await unfold('listPets');
    expect(await listPets.execute()).toEqual(['200', '[]']);
    await expect.poll(() => page.evaluate(VIOLATIONS)).toEqual([]);
  },
);
