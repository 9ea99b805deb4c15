/**
 * Writes BENCHMARKS.md and its charts from what was measured. The prose about what was tried is in notes.md,
 * and is copied unchanged. By itself (`npm run bench:report`) it writes them again from results.json, without
 * measuring, and prints the section about cost.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PROJECT_ROOT } from '../ops/wrangler.ts';
import { barsOf } from './bars.ts';
import { chartOfBars, chartOfSizes } from './charts.ts';
import { cost } from './cost-section.ts';
import type { Results } from './results.ts';
import * as sections from './sections.ts';

const TITLE = 'Benchmarks';

export async function writeReport(results: Results): Promise<void> {
  const bars = barsOf(results);
  await writeFile(join(import.meta.dirname, 'bars.svg'), await chartOfBars(bars));
  await writeFile(join(import.meta.dirname, 'sizes.svg'), await chartOfSizes(results));
  const notes = await readFile(join(import.meta.dirname, 'notes.md'), 'utf8');
  const text = [
    `# ${TITLE}`,
    sections.introduction(results),
    sections.bars(bars, results),
    sections.speed(results),
    sections.scale(results),
    sections.weight(results),
    cost(results),
    notes.trim(),
  ].join('\n\n');
  await writeFile(join(PROJECT_ROOT, 'BENCHMARKS.md'), `${text}\n`);
}

if (import.meta.main) {
  const text = await readFile(join(import.meta.dirname, 'results.json'), 'utf8');
  const results: Results = JSON.parse(text);
  await writeReport(results);
  console.log(cost(results));
}
