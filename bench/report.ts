/**
 * Writes BENCHMARKS.md: template.md, with the tables of bench/results.json. By itself (`npm run bench:report`) it also
 * prints what requests cost.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PROJECT_ROOT } from '../ops/wrangler.ts';
import { costTables } from './cost.ts';
import { isReached, type Results, readResults } from './results.ts';
import { show } from './statistics.ts';

/** A Markdown table; the columns after the first are for figures. */
function markdown([head = [], ...rows]: string[][]): string {
  const line = (cells: string[]) => `| ${head.map((_, i) => cells[i] ?? '').join(' | ')} |`;
  const rule = head.map((_, column) => (column === 0 ? '---' : '--:'));
  return [line(head), line(rule), ...rows.map(line)].join('\n');
}

function bars(results: Results): string[][] {
  const rows = Object.entries(results).flatMap(([part, section]) =>
    section.bars.map((bar) => {
      const { figure, least, most, value, spread } = bar;
      const measured = Number.isInteger(value) ? String(value) : value.toFixed(2);
      return [
        ...[part, figure, least === undefined ? `≤ ${most}` : `≥ ${least}`],
        ...[spread ? show(spread, 2) : measured, isReached(bar) ? 'yes' : '**no**'],
      ];
    }),
  );
  return [['part', 'figure', 'bar', 'measured', 'reached'], ...rows];
}

function runs(results: Results): string[][] {
  const rows = Object.entries(results).map(([part, { date, load, machine }]) => [
    ...[part, date.slice(0, 16).replace('T', ' '), load.toFixed(1), machine],
  ]);
  return [['part', 'measured (UTC)', 'load before', 'machine'], ...rows];
}

export async function writeReport(results: Results): Promise<void> {
  const template = await readFile(join(import.meta.dirname, 'template.md'), 'utf8');
  const tables: Record<string, string[][]> = {
    ...Object.fromEntries(Object.entries(results).map(([part, { table }]) => [part, table])),
    ...{ bars: bars(results), runs: runs(results), ...costTables(results) },
  };
  const text = template.replace(/^\{(\w+)\}$/gm, (_, name: string) =>
    markdown(tables[name] ?? [['not measured']]),
  );
  await writeFile(join(PROJECT_ROOT, 'BENCHMARKS.md'), text);
}

if (import.meta.main) {
  const results = await readResults();
  await writeReport(results);
  for (const table of Object.values(costTables(results))) console.log(`${markdown(table)}\n`);
}
