/** The operations page agrees with the database and with the queries of the alerts. */
import { globSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { expect, test } from 'vitest';

const page = readFileSync('docs/operations.md', 'utf8');

test('the page can be read in an emergency', () => {
  expect(page.trimEnd().split('\n').length).toBeLessThanOrEqual(230);
});

test('a restore raises the largest id of every table', () => {
  const schema = readFileSync('schema.sql', 'utf8');
  const numbered = schema.split('CREATE TABLE ').filter((sql) => sql.includes('AUTOINCREMENT'));
  expect(numbered.length).toBeGreaterThan(0);
  for (const sql of numbered) {
    const [table] = sql.split(' ');
    expect(page).toMatch(new RegExp(`sqlite_sequence SET seq = max.* WHERE name = '${table}'`));
  }
});

test.each(globSync('docs/alerts/*.json'))('%s leaves out no group, and is in the table', (path) => {
  expect(JSON.parse(readFileSync(path, 'utf8')).limit).toBe(2000);
  expect(readFileSync('docs/alerts/README.md', 'utf8')).toContain(`(${basename(path)})`);
});
