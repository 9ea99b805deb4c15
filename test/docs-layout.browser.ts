/** The docs page can be read and used by everybody, on every screen. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { expect, test } from 'vitest';
import { docsPageOf } from './docs-page.ts';
import { startStore } from './store.ts';

const store = startStore();
const { open, unfold, askForKey, authorize } = docsPageOf(store);
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Run in the page: violations of any rule of level A or AA, by axe. */
const VIOLATIONS = `axe
  .run({
    runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'],
    rules: { 'heading-order': { enabled: true } },
  })
  .then(({ violations }) => violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => id + ': ' + html)))`;
/** Run in the page: elements that extend past the right edge of the screen. */
const WIDE = `[...document.querySelectorAll('body *')]
  .filter((element) => element.getBoundingClientRect().right > innerWidth + 1)
  .map((element) => element.outerHTML.slice(0, 200))`;
/** Run in the page: headings, names and status codes that are broken into several lines. */
const BROKEN = `[...document.querySelectorAll(
    '.opblock-section-header h4, .parameter__name, table.headers td:first-of-type, tbody .response-col_status')]
  .map((element) => { const range = new Range(); range.selectNodeContents(element); return range; })
  .filter((range) => range.getBoundingClientRect().height > 30)
  .map(String)`;
/** Run in the page: buttons that cover the text beside them. */
const COVERED = `[...document.querySelectorAll('.copy-to-clipboard, .download-contents')]
  .filter((button) => button.getBoundingClientRect().top <
    button.parentElement.querySelector('pre')?.getBoundingClientRect().bottom)
  .map((button) => button.outerHTML)`;

/** Run in the page: headings that leave out a level, and controls whose focus has no thick outline that stands out. */
const SKIPPED = `[...document.querySelectorAll('h1, h2, h3, h4, h5, h6')]
  .filter((heading) => heading.checkVisibility())
  .map((heading) => ({ heading, level: Number(heading.ariaLevel ?? heading.tagName[1]) }))
  .filter(({ level }, i, all) => level > (all[i - 1]?.level ?? 0) + 1)
  .map(({ heading }) => heading.outerHTML)`;
const FAINT = `[...(document.querySelector('dialog') ?? document).querySelectorAll('a[href], button, input, select, textarea')]
  .filter((control) => control.checkVisibility() && !control.disabled)
  .filter((control) => {
    control.focus({ focusVisible: true });
    const { outlineStyle, outlineWidth, outlineColor } = getComputedStyle(control);
    const color = document.documentElement.matches('.dark-mode') ? '138, 184, 255' : '28, 102, 184';
    return [outlineStyle, outlineWidth, outlineColor].join() !== 'solid,3px,rgb(' + color + ')';
  })
  .map((control) => control.outerHTML.slice(0, 200))`;

/** Unfolds every operation and every schema. */
const UNFOLD = `document
  .querySelectorAll('.opblock-summary-control[aria-expanded=false], .json-schema-2020-12-accordion')
  .forEach((button) => button.click())`;
const light = [1280, 390].map((width) => ({ colorScheme: 'light' as const, width }));
const dark = [1280, 390].map((width) => ({ colorScheme: 'dark' as const, width }));
test.each([...light, ...dark])(
  '$colorScheme, $width pixels wide',
  async ({ colorScheme, width }) => {
    const page = await open({ colorScheme, viewport: { width, height: 844 } });
    await page.evaluate(axe);
    const dialog = await askForKey();
    for (const faults of [VIOLATIONS, SKIPPED, FAINT])
      expect(await page.evaluate(faults)).toEqual([]);
    await dialog.getByRole('button', { name: 'Close' }).first().click();

    await authorize(await store.issueKey());
    for (const id of ['listPets', 'createPet']) await (await unfold(id)).execute();
    await page.evaluate(UNFOLD);
    const operations = await page.locator('.opblock').count();
    await expect.poll(() => page.locator('.opblock .execute').count()).toBe(operations);
    for (const faults of [VIOLATIONS, WIDE, BROKEN, COVERED, SKIPPED, FAINT])
      expect(await page.evaluate(faults)).toEqual([]);
  },
);
