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
  const tables = schema.match(/(?<=CREATE TABLE )\w+(?= \([^;]*?AUTOINCREMENT)/g);
  const raised = page.match(
    /(?<=UPDATE\s+sqlite_sequence\s+SET\s+seq\s+=\s+max\([^)]*\)\s+WHERE\s+name\s+=\s+')\w+/g,
  );
  expect(raised?.sort()).toEqual(tables?.sort());
});

test.each(globSync('docs/alerts/*.json'))('%s leaves out no group, and is in the table', (path) => {
  expect(JSON.parse(readFileSync(path, 'utf8')).limit).toBe(2000);
  expect(readFileSync('docs/alerts/README.md', 'utf8')).toContain(`(${basename(path)})`);
});
