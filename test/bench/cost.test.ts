import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { costOf, costsOfFlood, usesOf } from '../../bench/cost.ts';
import { readResults } from '../../bench/results.ts';
import { PROJECT_ROOT } from '../../ops/wrangler.ts';

test('a million requests cost what they use at list prices', () => {
  const use = { request: 1, logLine: 1, kvRead: 0.001, rowRead: 21, rowWritten: 3 };
  expect(costOf(use)).toBeCloseTo(0.3 + 0.6 + 0.0005 + 0.021 + 3, 10);
});

test('a day of refused requests costs requests and log lines, and KV reads with unknown keys', () => {
  const floods = costsOfFlood();
  expect(floods['401, no key']?.[0]).toBeCloseTo(86.4 * (0.3 + 0.6), 6);
  expect(floods['401, no key']?.[1]).toBeCloseTo(86.4 * (0.3 + 0.006), 6);
  expect(floods['401 or 429, unknown keys']?.[0]).toBeCloseTo(86.4 * (0.3 + 0.6 + 0.5), 6);
});

test('the operators’ page has the figures of the benchmark', async () => {
  const page = await readFile(join(PROJECT_ROOT, 'docs/operations.md'), 'utf8');
  const uses = usesOf(await readResults());
  for (const name of ['listPets', 'getPet', 'createPet', 'createPet with Idempotency-Key']) {
    const use = uses[name];
    expect(use, name).toBeDefined();
    expect(page, name).toContain(use && `$${costOf(use).toFixed(2)}`);
  }
  for (const [name, dollars] of Object.entries(costsOfFlood())) {
    const figures = dollars.map((each) => `\\$${each.toFixed(0)} +`).join('\\| ');
    expect(page).toMatch(new RegExp(`^\\| ${name} +\\| ${figures}\\|`, 'm'));
  }
});
