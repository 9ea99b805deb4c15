import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { pageOf } from '../../bench/page.ts';
import { readResults } from '../../bench/results.ts';
import { MAX_BUNDLE_KIB } from '../../ops/check-bundle.ts';

test('BENCHMARKS.md shows the measurements of bench/results.json', async () => {
  expect(readFileSync('BENCHMARKS.md', 'utf8')).toBe(await pageOf(await readResults()));
});

test('the page has the present limit of the bundle, which `npm run check` enforces', async () => {
  const { startup } = await readResults();
  const figures = startup?.figures?.filter(({ name }) => name.startsWith('bundle'));
  expect(figures).toMatchObject([{ max: MAX_BUNDLE_KIB }]);
});

test('the chart has a bar for each ratio to the bare Hono app', async () => {
  const estimate = (value: number) => ({ value, low: value, high: value });
  const figures = [
    { name: 'list of 20', max: 2, estimate: estimate(1.234) },
    { name: 'get', max: 2, estimate: estimate(2) },
  ];
  const run = { date: '2026-11-22T12:00:00.000Z', seconds: 1, machine: 'a machine' };
  const page = await pageOf({ overhead: { ...run, figures } });
  expect(page).toContain('x-axis ["list of 20","get"]');
  expect(page).toContain('bar [1.23,2]');
});
