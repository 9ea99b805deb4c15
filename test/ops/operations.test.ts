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
  const tables = numbered.map((sql) => sql.split(' ')[0]);
  // However its lines break.
  const raises = page
    .replaceAll(/\s+/g, ' ')
    .split('UPDATE sqlite_sequence SET seq = max(')
    .slice(1);
  expect(raises.map((sql) => sql.split("'")[1]).sort()).toEqual(tables.sort());
  for (const sql of raises) expect(sql).toMatch(/^seq, \d+\) WHERE name = '/);
});

test.each(globSync('docs/alerts/*.json'))('%s leaves out no group, and is in the table', (path) => {
  expect(JSON.parse(readFileSync(path, 'utf8')).limit).toBe(2000);
  expect(readFileSync('docs/alerts/README.md', 'utf8')).toContain(`(${basename(path)})`);
});
