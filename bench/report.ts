/**
 * Writes BENCHMARKS.md and its charts from what was measured. The prose about what was tried is in notes.md,
 * and is taken over as it stands. By itself (`node bench/report.ts`), writes them again from results.json.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PROJECT_ROOT } from '../ops/wrangler.ts';
import { barsOf } from './bars.ts';
import { chartOfBars, chartOfSizes } from './charts.ts';
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
    sections.cost(results),
    notes.trim(),
  ].join('\n\n');
  await writeFile(join(PROJECT_ROOT, 'BENCHMARKS.md'), `${text}\n`);
}

if (import.meta.main) {
  const text = await readFile(join(import.meta.dirname, 'results.json'), 'utf8');
  await writeReport(JSON.parse(text));
}
