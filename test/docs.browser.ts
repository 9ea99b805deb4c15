/** The docs page: what it shows, and the requests that it sends. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { expect, test } from 'vitest';
import { OTHER_HOST } from './browser.ts';
import { operations } from './contract.ts';
import { docsPageOf } from './docs-page.ts';
import { startStore } from './store.ts';

const store = startStore();
const { open, askForKey, authorize, unfold } = docsPageOf(store);

const isFocused = (element: unknown) =>
  element === Reflect.get(globalThis, 'document').activeElement;

test('the docs page is the target of /, and has its Content-Security-Policy', async () => {
  const page = await open();
  expect(page.url()).toBe(`${store.url()}/docs`);
  const { headers } = await fetch(page.url());
  expect(headers.get('content-security-policy')).toBe(
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'",
  );
});

test('the docs page shows the stability of operations, and when getPet ends', async () => {
  const page = await open();
  const shown = (await page.locator('.opblock').all()).map(async (each) => [
    (await each.getAttribute('id'))?.split('-').at(-1),
    ...(await each.locator('.stability').allInnerTexts()),
  ]);
  const described = operations.map(
    ({ operation }) => [operation.operationId, operation['x-stability']] as const,
  );
  expect(Object.fromEntries(await Promise.all(shown))).toEqual(Object.fromEntries(described));
  await unfold('getPet');
  expect(await page.locator('.opblock-deprecated').innerText()).toContain('2030-12-05');
});

test('the docs page names the local key on localhost only', async () => {
  const [localKey] = /animal_local_\w+/.exec(readFileSync('README.md', 'utf8')) ?? [];
  await open();
  expect(await (await askForKey()).innerText()).toContain(localKey);
  await open({}, store.url().replace(/localhost|127\.0\.0\.1/, OTHER_HOST));
  expect(await (await askForKey()).innerText()).not.toContain('animal_local');
});

test('the docs page goes from http to https before it shows anything, except on localhost', async () => {
  const http = store.url().replace(/localhost|127\.0\.0\.1/, OTHER_HOST);
  const page = await open({}, http);
  expect(page.url()).toBe(`${http.replace('http:', 'https:')}/docs`);
  const requests = await page.evaluate(`performance.getEntries().map(({ name }) => name)`);
  expect(requests).toContain(page.url().replace('/docs', '/v1/openapi.json'));
});

/** Run in the page: where the focus is. */
const FOCUS = `document.activeElement.closest('dialog') ? 'dialog' :
  document.activeElement === document.body ? 'browser' : document.activeElement.outerHTML`;

test.each([
  ['Escape', 'Authorize'],
  ['Enter', 'Close'],
])('the dialog holds the focus, and gives it back after %s', async (key, lastFocused) => {
  const page = await open();
  const dialog = await askForKey();
  await expect.poll(() => dialog.getByRole('textbox').evaluate(isFocused)).toBe(true);
  expect(await page.getByRole('dialog', { name: 'Authorization' }).count()).toBe(1);
  const seen = new Set<unknown>();
  for (const step of ['Tab', 'Tab', 'Tab', 'Tab', 'Tab', 'Shift+Tab', 'Shift+Tab', 'Shift+Tab']) {
    await page.keyboard.press(step);
    seen.add(await page.evaluate(FOCUS));
  }
  expect([...seen].filter((place) => place !== 'browser')).toEqual(['dialog']);
  await dialog.getByRole('button', { name: lastFocused }).last().focus();
  await page.keyboard.press(key);
  await expect.poll(() => dialog.count()).toBe(0);
  const opener = page.locator('.auth-wrapper').getByRole('button', { name: 'Authorize' });
  await expect.poll(() => opener.evaluate(isFocused)).toBe(true);
});

test.each(['Bearer ', 'Authorization: Bearer '])(
  'a key may be pasted after "%s"',
  async (prefix) => {
    await open();
    await authorize(prefix + (await store.issueKey()));
    const listPets = await unfold('listPets');
    expect(await listPets.execute()).toEqual(['200', '[]']);
  },
);

test('requests of the docs page are sent as written, and integers are shown exactly', async () => {
  await open();
  await authorize(await store.issueKey());
  const createPet = await unfold('createPet');
  const pet = '"name":"Rex","categoryId":9007199254740993,"status":"sold"}';
  await createPet.input('Request body').fill(`{${pet}`);
  expect(await createPet.execute()).toEqual(['201', `{"id":1,${pet}`]);
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
/** Run in the page: violations of any rule of level A or AA, by axe. */
const VIOLATIONS = `axe
  .run({ runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'] })
  .then(({ violations }) => violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => id + ': ' + html)))`;
/** Run in the page: elements that extend past the right edge of the screen. */
const WIDE = `[...document.querySelectorAll('body *')]
  .filter((element) => element.getBoundingClientRect().right > innerWidth + 1)
  .map((element) => element.outerHTML.slice(0, 200))`;

test.each([
  { colorScheme: 'light', width: 1280 },
  { colorScheme: 'dark', width: 390 },
] as const)(
  'everybody can read the docs page in $colorScheme, $width pixels wide',
  async (screen) => {
    const { colorScheme, width } = screen;
    const page = await open({ colorScheme, viewport: { width, height: 844 } });
    await page.evaluate(axe);
    const dialog = await askForKey();
    expect(await page.evaluate(VIOLATIONS)).toEqual([]);
    await dialog.getByRole('button', { name: 'Close' }).first().click();
    await authorize(await store.issueKey());
    await (await unfold('listPets')).execute();
    await expect.poll(() => page.evaluate(VIOLATIONS)).toEqual([]);
    expect(await page.evaluate(WIDE)).toEqual([]);
  },
);
