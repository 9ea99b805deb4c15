/** The operations page agrees with the database and with the queries of the alerts. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { PROJECT_ROOT } from '../../ops/wrangler.ts';

const read = (path: string) => readFileSync(join(PROJECT_ROOT, path), 'utf8');
const page = read('docs/operations.md');
const alerts = globSync('docs/alerts/*.json', { cwd: PROJECT_ROOT });

test('the page can be read in an emergency', () => {
  expect(page.trimEnd().split('\n').length).toBeLessThanOrEqual(230);
});

test('a restore raises the largest id of every table', () => {
  const created = /CREATE TABLE (\w+) \([^;]*?AUTOINCREMENT/g;
  const tables = Array.from(read('schema.sql').matchAll(created), ([, table]) => table);
  const raised = page.matchAll(
    /UPDATE\s+sqlite_sequence\s+SET\s+seq\s+=\s+max\([^)]*\)\s+WHERE\s+name\s+=\s+'(\w+)'/g,
  );
  expect(Array.from(raised, ([, table]) => table).sort()).toEqual(tables.sort());
});

test.each(alerts)('%s has no group left out, and a row in the table', (path) => {
  expect(JSON.parse(read(path)).limit).toBe(2000);
  expect(read('docs/alerts/README.md')).toContain(`(${path.split(/[\\/]/).at(-1)})`);
});
