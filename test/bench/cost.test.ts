import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { costOf, costOfMillionLines, total } from '../../bench/cost.ts';
import { operationCosts, refusalCosts } from '../../bench/cost-section.ts';
import type { Results } from '../../bench/results.ts';
import { PROJECT_ROOT } from '../../ops/wrangler.ts';

const USE = { cpuMs: 0.5, kvRead: 0.001, rowRead: 21, rowWritten: 3, logLine: 1 };

test('a million requests, item by item', () => {
  const bill = costOf(1e6, USE);
  const expected = {
    request: 0.3,
    cpuMs: 0.01,
    kvRead: 0.0005,
    rowRead: 0.021,
    rowWritten: 3,
    logLine: 0.6,
  };
  expect(Object.keys(bill)).toEqual(Object.keys(expected));
  for (const [item, dollars] of Object.entries(expected)) {
    expect(bill).toHaveProperty(item, expect.closeTo(dollars, 10));
  }
  expect(total(bill)).toBeCloseTo(3.9315, 10);
});

test('from December 2026 a log line costs by its bytes, taken in and kept for seven days', () => {
  expect(costOfMillionLines(1_000)).toBeCloseTo(0.25 + (0.1 * 7) / 30, 10);
});

test('the operators’ page gives the figures that the benchmark works out', async () => {
  const page = await readFile(join(PROJECT_ROOT, 'docs/operations.md'), 'utf8');
  const costs = operationCosts(await readResults());
  for (const name of ['list of 20', 'get', 'create', 'create with Idempotency-Key']) {
    const { bill } = costs[name] ?? {};
    expect(bill, name).toBeDefined();
    expect(page, name).toContain(bill && `$${total(bill).toFixed(2)}`);
  }
  for (const { name, day, sampled } of refusalCosts(await readResults())) {
    const figures = [day, sampled].map((bill) => `\\$${total(bill).toFixed(0)} +`).join('\\| ');
    expect(page).toMatch(new RegExp(`^\\| ${name} +\\| ${figures}\\|`, 'm'));
  }
});

test('refused requests cost a request and a line each, and KV reads only with well-formed keys', async () => {
  const costs = refusalCosts(await readResults());
  expect(costs.length).toBe(5);
  for (const { name, day } of costs) {
    expect(day.request, name).toBeCloseTo(0.3 * 86.4, 6);
    expect(day.logLine, name).toBeCloseTo(0.6 * 86.4, 6);
    expect([day.rowRead, day.rowWritten], name).toEqual([0, 0]);
  }
  const reads = costs.map(({ day }) => Number(day.kvRead.toFixed(3)));
  expect(reads).toEqual([0, 0, 43.2, 0, 0]);
});

async function readResults(): Promise<Results> {
  return JSON.parse(await readFile(join(PROJECT_ROOT, 'bench/results.json'), 'utf8'));
}
