/**
 * The docs page in a browser: what it shows, and the requests that it sends. No test may cause a
 * warning or an error in it.
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { afterAll, afterEach, expect, test } from 'vitest';
import { LOCAL_KEY } from '../../ops/local/store.ts';
import { startStore } from '../support/store.ts';

const store = startStore();
const browser = await chromium.launch({
  // Default: Debian's.
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--disable-gpu', '--disable-quic'],
});
let page: Page;
let problems: string[];

afterEach(async () => {
  await page.close();
  expect(problems).toEqual([]);
});
afterAll(() => browser.close());

/**
 * Opens a page, and records its warnings and errors: failed requests and violations of its policy,
 * too.
 */
async function openPage(options: BrowserContextOptions = {}) {
  page = await browser.newPage(options);
  page.setDefaultTimeout(0); // The test's own timeout does not depend on the machine's speed.
  problems = [];
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) problems.push(message.text());
  });
  page.on('pageerror', (error) => problems.push(error.message));
}

/** Opens the docs page at any origin. */
async function open(options: BrowserContextOptions = {}, origin = store.url()) {
  await openPage(options);
  await page.route(
    (url) => url.origin !== store.url(),
    async (route) => {
      const { pathname } = new URL(route.request().url());
      await route.fulfill({ response: await route.fetch({ url: store.url() + pathname }) });
    },
  );
  // It may go on to https before it has loaded.
  await page.goto(`${origin}/docs`, { waitUntil: 'commit' });
  await page.waitForSelector('.opblock');
}

/** The first thing that the page tells its readers to do. */
const firstStep = () => page.locator('.description li').first().innerText();

/** Opens the dialog that asks for the key. */
async function askForKey() {
  await page.getByRole('button', { name: 'Authorize' }).first().click();
  return page.getByRole('dialog', { name: 'Authorization' });
}

/** Removes the key that the page of a local store has at first. */
async function logOut() {
  const dialog = await askForKey();
  await dialog.getByRole('button', { name: 'Logout' }).click();
  return dialog;
}

/** Types into the password field of the dialog, and closes it. */
async function authorize(text: string) {
  const dialog = await logOut();
  await dialog.locator('[type=password][autocomplete=off]').fill(text);
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

test('the first request to a local store succeeds, by curl and by the page', async () => {
  await store.putRecord(LOCAL_KEY, { id: 'local' });
  await open({}, 'http://localhost');
  expect(await firstStep()).toBe('Get a key: every local store accepts the one below.');
  const header = `-H 'Authorization: Bearer ${LOCAL_KEY}'`;
  const curl = `curl -i -w '\\n' http://localhost/v1/pets \\\n  ${header}`;
  expect((await page.locator('.description pre').innerText()).trim()).toBe(curl);
  // The focus stays, so the status of each response is announced.
  const status = page.getByRole('status');
  const before: string[] = [];
  await page.route('**/v1/pets*', async (route) => {
    before.push(await status.innerText());
    // A second click, while the request runs, sends nothing.
    if (before.length === 1) await page.getByRole('button', { name: 'Execute' }).click();
    await route.fallback();
  });
  const listPets = await unfold('listPets');
  for (let responses = 0; responses < 2; responses += 1) {
    expect(await listPets.execute()).toEqual(['200', '[]']);
    expect(await page.locator(':focus').innerText()).toBe('Execute');
    await expect.poll(() => status.innerText()).toBe('Response: 200 OK');
  }
  expect(before).toEqual(['', '']);
});

test.each([
  ['openapi.json', 'body'],
  ['docs/swagger-ui-bundle.js', 'body'],
  ['docs/init.js', 'body'],
  ['docs/swagger-ui.css', '.authorize.locked'],
])('with a page in place of %s, a sentence links the description', async (file, end) => {
  await openPage();
  const answer = { contentType: 'text/html', body: '<h1>Log in to this network</h1>' };
  await page.route(`**/${file}`, (route) => route.fulfill({ status: 403, ...answer }));
  await page.goto(`${store.url()}/docs`);
  await expect.poll(() => problems).not.toEqual([]);
  await page.waitForSelector(end);
  const sentence = page.getByText('JavaScript or one of its files is blocked');
  expect(await sentence.isVisible()).toBe(true);
  expect(await sentence.getByRole('link').getAttribute('href')).toBe('/openapi.json');
  await page.close();
  problems = [];
});

test('elsewhere the docs page goes to https before it shows anything, without a key', async () => {
  await open({}, 'http://store.example');
  expect(page.url()).toBe('https://store.example/docs');
  expect(await firstStep()).toContain('from the operator');
  const dialog = await askForKey();
  expect(await dialog.getByLabel('Value').inputValue()).toBe('');
  expect(await page.content()).not.toContain('animal_local');
});

/** Run in the page: where the focus is, and the width of its outline. */
const FOCUS = [
  "[document.activeElement.closest('dialog') ? 'dialog' : document.activeElement.textContent,",
  'getComputedStyle(document.activeElement).outlineWidth]',
].join(' ');
const IN_DIALOG = ['dialog', '3px'];

test('the dialog holds the focus, shows it, and gives it back', async () => {
  await open();
  await logOut();
  await page.keyboard.press('Escape');
  for (const key of ['Escape', 'Enter']) {
    const dialog = await askForKey();
    await expect.poll(() => page.evaluate(FOCUS)).toEqual(IN_DIALOG);
    const close = dialog.getByRole('button', { name: 'Close' }).last();
    await close.focus();
    // After the last element, the browser's own controls have the focus, and then the first one.
    for (const step of ['Tab', 'Tab', 'Tab', 'Shift+Tab']) await page.keyboard.press(step);
    await expect.poll(() => page.evaluate(FOCUS)).toEqual(IN_DIALOG);
    await close.focus();
    await page.keyboard.press(key);
    // Not by its role: a closed dialog that is still there has none.
    await expect.poll(() => page.locator('.modal-ux').count()).toBe(0);
    await expect.poll(() => page.evaluate(FOCUS)).toEqual(['Authorize', '3px']);
  }
});

test('requests are sent as written, responses are exact, and curl has no key', async () => {
  const key = await store.issueKey();
  await open();
  await authorize(key);
  const createPet = await unfold('createPet');
  const pet = '  "name": "Rex",\n  "categoryId": 9007199254740993,\n  "status": "sold"\n}';
  await createPet.input('Request body').fill(`{${pet}`);
  expect(await createPet.execute()).toEqual(['201', `{\n  "id": 1,\n${pet}`]);
  const updatePet = await unfold('updatePet');
  await updatePet.input('petId').fill('1');
  await updatePet.input('Request body').fill('{"status":"pending"}');
  const changed = pet.replace('sold', 'pending');
  expect(await updatePet.execute()).toEqual(['200', `{\n  "id": 1,\n${changed}`]);
  // As in an older browser.
  await page.evaluate('delete JSON.rawJSON');
  const listPets = await unfold('listPets');
  await listPets.input('status').selectOption('pending');
  const line = '[{"id":1,"name":"Rex","categoryId":9007199254740993,"status":"pending"}]';
  expect(await listPets.execute()).toEqual(['200', line]);
  const curl = await page.locator('.curl-command').last().innerText();
  expect(curl).toContain("-H 'Authorization: Bearer <API_KEY>'");
  expect(await page.content()).not.toContain(key);
});

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const RULES = {
  runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'],
  rules: { 'heading-order': { enabled: true } },
};
/**
 * Run in the page: violations of any rule of level A or AA, and headings that leave out a level.
 */
const VIOLATIONS = `axe.run(${JSON.stringify(RULES)}).then((result) => result.violations)`;
test.each([
  ['light', 1280, 'authorization: bearer '],
  ['dark', 320, 'Bearer '],
] as const)(
  'everybody can read the docs page in %s, %i pixels wide',
  async (colorScheme, width, prefix) => {
    await open({ colorScheme, viewport: { width, height: 720 } });
    await page.evaluate(axe);
    await askForKey();
    expect(await page.evaluate(VIOLATIONS)).toEqual([]);
    await page.keyboard.press('Escape');
    await authorize(prefix + (await store.issueKey()));
    await unfold('createPet');
    const listPets = await unfold('listPets');
    expect(await listPets.execute()).toEqual(['200', '[]']);
    for (const summary of await page.locator('.info summary').all()) await summary.click();
    for (const [name, text] of [
      [/^429 /, 'Seconds to wait before the next request.'],
      ['Schemas', 'PetStatus'],
    ] as const) {
      await page.getByRole('button', { name, expanded: false }).last().click();
      await page.getByRole('button', { name, expanded: true }).waitFor();
      await page.getByText(text, { exact: true }).waitFor();
    }
    await expect.poll(() => page.evaluate(VIOLATIONS)).toEqual([]);
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width);
    await page.emulateMedia({ media: 'print' });
    await expect.poll(() => page.evaluate('document.documentElement.className')).toBe('');
  },
);
