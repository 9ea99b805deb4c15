import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { type Browser, chromium, type Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { operations } from './contract.ts';
import { startStore } from './store.ts';

const store = startStore();
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Debian's Chromium, or the one that CHROMIUM names. */
const EXECUTABLE = process.env.CHROMIUM ?? '/usr/bin/chromium';

const LIST = 'animals-listPets';
const CREATE = 'animals-createPet';
const GET = 'animals-getPet';
const UPDATE = 'Pets-updatePet';
const ORDER = 'Store-placeOrder';
const HEALTH = 'service-getHealth';
const DESCRIBED = operations.map(({ operation }) => ({
  id: `${operation.tags[0]}-${operation.operationId}`,
  stability: operation['x-stability'],
}));
const OPERATIONS = DESCRIBED.map(({ id }) => id);

/** Run in the page: elements that extend past the right edge of the screen. */
const WIDE = `[...document.querySelectorAll('body *')]
  .filter((element) => element.getBoundingClientRect().right > innerWidth + 1)
  .map((element) => element.outerHTML.slice(0, 200))`;

/** Run in the page: status codes that are broken into several lines. */
const BROKEN = `[...document.querySelectorAll('.response-col_status')]
  .filter((cell) => /^[0-9]{3}$/.test(cell.textContent.trim()))
  .filter((cell) => { const range = document.createRange(); range.selectNodeContents(cell); return range.getBoundingClientRect().height > 30; })
  .map((cell) => cell.textContent)`;

/** Run in the page: parameter names that are broken into several lines. */
const BROKEN_NAMES = `[...document.querySelectorAll('.parameter__name:not(h4), table.headers td:first-of-type')]
  .filter((name) => { const range = document.createRange(); range.selectNodeContents(name); return range.getBoundingClientRect().height > 30; })
  .map((name) => name.textContent)`;

/** Run in the page: buttons that cover the text beside them. */
const COVERED = `[...document.querySelectorAll('.highlight-code, .curl-command')].flatMap((block) => {
  const { bottom } = block.querySelector('pre').getBoundingClientRect();
  return [...block.querySelectorAll('.copy-to-clipboard, .download-contents')]
    .filter((button) => button.getBoundingClientRect().top < bottom)
    .map((button) => button.outerHTML.slice(0, 100));
})`;

/** Run in the page: text without enough contrast (WCAG 2.2, 1.4.3), by axe. */
const FAINT = `axe.run(document, { runOnly: ['color-contrast'] }).then(({ violations }) =>
  violations.flatMap(({ nodes }) => nodes.map((node) => node.html + ' ' + node.failureSummary)))`;

let browser: Browser;
let page: Page;
let problems: string[];

beforeAll(async () => {
  const quiet = ['--disable-background-networking', '--disable-component-update', '--disable-sync'];
  const args = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', ...quiet];
  browser = await chromium.launch({ executablePath: EXECUTABLE, args });
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
  await unfold(OPERATIONS);
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

afterEach(async () => {
  await page.close();
  expect(problems).toEqual([]);
});

describe('the docs page', () => {
  beforeEach(() => open());

  test('is the target of /, and has its Content-Security-Policy', async () => {
    expect(page.url()).toBe(`${store.url()}/docs`);
    const { headers } = await fetch(page.url());
    expect(headers.get('content-security-policy')).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'",
    );
  });

  test('shows every operation, and marks the deprecated one, with its sunset', async () => {
    const description = (await store.fetch('/v1/openapi.json')).body as {
      paths: Record<string, object>;
    };
    const operations = Object.values(description.paths).flatMap((path) => Object.keys(path));
    expect(await page.locator('.opblock').count()).toBe(operations.length);
    expect(await page.locator('.opblock-deprecated').count()).toBe(1);
    await operation(GET).locator('.opblock-summary-control').click();
    // The parts of an unfolding operation appear one after the other.
    await expect.poll(() => operation(GET).innerText()).toContain('2030-12-05');
  });

  test('marks the operations that are beta or experimental, folded and unfolded', async () => {
    const marked = await page.locator('.opblock:has(.stability)').all();
    const marks = await Promise.all(
      marked.map(async (each) => [
        (await each.getAttribute('id'))?.replace('operations-', ''),
        await each.locator('.stability').innerText(),
      ]),
    );
    const described = DESCRIBED.filter(({ stability }) => stability !== undefined);
    expect(described.length).toBeGreaterThan(0);
    expect(marks).toEqual(described.map(({ id, stability }) => [id, stability]));
    await operation(UPDATE).locator('.opblock-summary-control').click();
    await expect.poll(() => operation(UPDATE).innerText()).toMatch(/x-stability\s+("beta"|beta)/);
  });

  test('adds two different animals, one after the other, and links to the description', async () => {
    await unfold([CREATE]);
    await authorize(await store.issueKey());
    const body = operation(CREATE).locator('textarea.body-param__text');
    await body.fill('{"name":"Rex","categoryId":1}');
    expect(await execute(CREATE)).toEqual(['201', '{"id":1,"name":"Rex","categoryId":1}']);
    await body.fill('{"name":"Max","categoryId":2}');
    await operation(CREATE).locator('.execute').click();
    const shown = operation(CREATE).locator('.live-responses-table .highlight-code code').first();
    await expect.poll(() => shown.innerText()).toBe('{"id":2,"name":"Max","categoryId":2}');

    const link = page.getByRole('link', { name: '/v1/openapi.json' });
    expect(await link.getAttribute('href')).toMatch(/\/v1\/openapi\.json$/);
  });

  test.each(['Bearer ', 'Authorization: Bearer '])(
    'accepts a key pasted after %j',
    async (prefix) => {
      await unfold([LIST]);
      await authorize(prefix + (await store.issueKey()));
      expect(await execute(LIST)).toEqual(['200', '[]']);
    },
  );

  test('sends requests to its own origin with a pasted key, and they succeed', async () => {
    await unfold([LIST, CREATE, GET, UPDATE, ORDER, HEALTH]);
    await authorize(await store.issueKey());
    const body = '{"name":"Rex","categoryId":9007199254740993,"status":"available"}';
    await operation(CREATE).locator('textarea.body-param__text').fill(body);
    const [created, pet] = await execute(CREATE);
    expect(created).toBe('201');
    // Every digit, as the service wrote it.
    expect(pet).toContain('"categoryId":9007199254740993,');
    await operation(GET)
      .locator('tr[data-param-name="petId"] input')
      .fill(String(JSON.parse(pet).id));
    expect((await execute(GET))[0]).toBe('200');
    await operation(LIST).locator('tr[data-param-name="status"] select').selectOption('available');
    const [listed, pets] = await execute(LIST);
    expect([listed, JSON.parse(pets)]).toEqual(['200', [JSON.parse(pet)]]);
    await operation(ORDER)
      .locator('textarea.body-param__text')
      .fill(`{"petId":${JSON.parse(pet).id}}`);
    const [placed, order] = await execute(ORDER);
    expect([placed, JSON.parse(order)]).toEqual(['201', expect.objectContaining({ petId: 1 })]);
    const renamed = operation(UPDATE);
    await renamed.locator('tr[data-param-name="petId"] input').fill('1');
    await renamed.locator('textarea.body-param__text').fill('{"name":"Max"}');
    expect((await execute(UPDATE))[0]).toBe('200');
    const [healthy, health] = await execute(HEALTH);
    expect([healthy, JSON.parse(health)]).toEqual([
      '200',
      expect.objectContaining({ status: 'ok' }),
    ]);
  });
});

test('on a phone parameter names stay whole and no button covers a response', async () => {
  await open({ viewport: { width: 390, height: 844 } });
  await openAll();
  await authorize(await store.issueKey());
  await execute(LIST);
  expect(await page.evaluate(BROKEN_NAMES)).toEqual([]);
  expect(await page.evaluate(COVERED)).toEqual([]);
});

describe.each(['light', 'dark'] as const)('in %s', (colorScheme) => {
  test.each([
    ['a desktop', 1200],
    ['a phone', 360],
  ])('on %s everything can be read and nothing is wider than the screen', async (_, width) => {
    await open({ colorScheme, viewport: { width, height: 800 } });
    await openAll();
    await authorize(await store.issueKey());
    await execute(LIST);
    await execute(CREATE);
    expect(await page.evaluate(WIDE)).toEqual([]);
    expect(await page.evaluate(BROKEN)).toEqual([]);
    await page.evaluate(axe);
    const faint = await page.evaluate(FAINT);
    expect(faint).toEqual([]);
  });
});
