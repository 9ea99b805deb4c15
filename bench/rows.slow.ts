/** The rows in BENCHMARKS.md are those that `npm run bench -- rows` prints. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { PROJECT_ROOT } from '../ops/command/project-root.ts';
import { measureRows } from './rows.ts';

test('BENCHMARKS.md has the rows that the benchmark counts', async () => {
  const document = readFileSync(join(PROJECT_ROOT, 'BENCHMARKS.md'), 'utf8');
  // Without the two lines of the head.
  const rows = (await measureRows()).split('\n').slice(2);
  expect(document.replaceAll(/ +/g, ' ')).toContain(rows.join('\n'));
});
