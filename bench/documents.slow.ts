/** The documents show what the demo and a benchmark print. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { measureRows } from './rows.ts';

/** Without the heads of tables, and the spaces between their columns. */
const flat = (text: string) => text.replaceAll(/.*\n\| -.*\n|(?<= ) +/g, '');

test('README.md shows what the demo prints', () => {
  const output = flat(execFileSync(process.execPath, ['bench/demo.ts'], { encoding: 'utf8' }));
  const shown = flat(readFileSync('README.md', 'utf8'));
  // The last part is a table.
  for (const part of output.split(/\n(?=\| )/)) expect(shown).toContain(part);
});

test('BENCHMARKS.md has the rows that the benchmark counts', async () => {
  const shown = flat(readFileSync('BENCHMARKS.md', 'utf8'));
  expect(shown).toContain(flat(await measureRows()));
});
