/** The docs page can be read on every screen. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { describe, expect, test } from 'vitest';
import { CREATE, docsPageOf, LIST } from './docs-page.ts';
import { startStore } from './store.ts';

const store = startStore();
const { page, open, openAll, execute, authorize } = docsPageOf(store);
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

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

test('on a phone parameter names stay whole and no button covers a response', async () => {
  await open({ viewport: { width: 390, height: 844 } });
  await openAll();
  await authorize(await store.issueKey());
  await execute(LIST);
  expect(await page().evaluate(BROKEN_NAMES)).toEqual([]);
  expect(await page().evaluate(COVERED)).toEqual([]);
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
    expect(await page().evaluate(WIDE)).toEqual([]);
    expect(await page().evaluate(BROKEN)).toEqual([]);
    await page().evaluate(axe);
    const faint = await page().evaluate(FAINT);
    expect(faint).toEqual([]);
  });
});
