/** Writes BENCHMARKS.md: page.md with the measurements in place of `{name}`. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PROJECT_ROOT } from '../ops/command/project-root.ts';
import { costOf, costOfFlood } from './cost.ts';
import type { Figure, Results, Rows, Section } from './results.ts';
import { show } from './statistics.ts';

export async function writePage(results: Results): Promise<void> {
  await writeFile(join(PROJECT_ROOT, 'BENCHMARKS.md'), await pageOf(results));
}

export async function pageOf(results: Results): Promise<string> {
  const template = await readFile(join(import.meta.dirname, 'page.md'), 'utf8');
  const bars = results.overhead?.figures ?? [];
  const values: Record<string, string> = {
    thresholds: thresholdTable(results),
    names: JSON.stringify(bars.map(({ name }) => name)),
    ratios: JSON.stringify(bars.map(({ estimate }) => Number(estimate.value.toFixed(2)))),
    requests: requestTable(results.scale?.rows),
    runs: table(
      ['part', 'began', 'seconds', 'machine'],
      Object.entries(results).map(([part, { date, seconds, machine }]) => {
        return [part, date.slice(0, 16).replace('T', ' '), seconds.toFixed(), machine];
      }),
    ),
    'flood-known': dollars(costOfFlood({ kvReads: 0, logLines: 1 })),
    'flood-unknown': dollars(costOfFlood({ kvReads: 1, logLines: 1 })),
  };
  return template.replace(/\{([a-z-]+)\}/g, (_, name) => values[name] ?? `{${name}}`);
}

export function isMissed({ estimate, max }: Figure): boolean {
  return estimate.value > max;
}

/** Every figure of these parts, its threshold, and the CPU times that a ratio compares. */
export function thresholdTable(parts: Record<string, Section>): string {
  const rows = Object.entries(parts).flatMap(([part, { figures = [] }]) =>
    figures.map((figure) => {
      const { name, max, estimate, store, baseline } = figure;
      const threshold = `≤ ${max}${isMissed(figure) ? ', missed' : ''}`;
      const cpu = [store, baseline].map((time) => (time ? show(time) : ''));
      return [part, name, show(estimate), threshold, ...cpu];
    }),
  );
  return table(['part', 'figure', 'measured', 'threshold', 'CPU µs', 'baseline'], rows);
}

export function requestTable(requests: Record<string, Rows> = {}): string {
  const rows = Object.entries(requests).map(([name, each]) => {
    return [name, `${each.read}`, `${each.written}`, dollars(costOf(each))];
  });
  return table(['request', 'rows read', 'rows written', 'a million requests'], rows);
}

/** A Markdown table. All columns but the first are aligned right. */
function table(head: string[], rows: string[][]): string {
  const alignment = head.map((_, column) => (column === 0 ? '---' : '--:'));
  return [head, alignment, ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

const dollars = (amount: number) => `$${amount.toFixed(2)}`;
