/** Writes BENCHMARKS.md: page.md with the measurements in place of `{name}`. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PROJECT_ROOT } from '../ops/wrangler.ts';
import { costOf, costOfFlood } from './cost.ts';
import { type Figure, outcomeOf, type Results } from './results.ts';
import { show } from './statistics.ts';

export async function writePage(results: Results): Promise<void> {
  const template = await readFile(join(import.meta.dirname, 'page.md'), 'utf8');
  const { figures = [] } = results.workerd ?? {};
  const values: Record<string, string> = {
    names: figures.map(({ name }) => `"${name}"`).join(', '),
    store: figures.map(({ store }) => store?.value.toFixed()).join(', '),
    bare: figures.map(({ baseline }) => baseline?.value.toFixed()).join(', '),
    top: String(500 * Math.ceil(Math.max(...figures.flatMap(highest)) / 500)),
    thresholds: thresholdTable(results),
    requests: requestTable(results),
    runs: runTable(results),
    'flood-known': dollars(costOfFlood({ kvReads: 0, logLines: 1 })),
    'flood-unknown': dollars(costOfFlood({ kvReads: 1, logLines: 1 })),
    'flood-sampled': dollars(costOfFlood({ kvReads: 0, logLines: 0.01 })),
  };
  const page = template.replace(/\{([a-z-]+)\}/g, (_, name) => {
    const value = values[name];
    if (value === undefined) throw new Error(`page.md: no measurement is called ${name}`);
    return value;
  });
  await writeFile(join(PROJECT_ROOT, 'BENCHMARKS.md'), page);
}

/** Every figure of these parts: how it compares with its threshold, and the CPU time that a ratio compares. */
export function thresholdTable(parts: Record<string, { figures: Figure[] }>): string {
  const head = ['part', 'figure', 'measured', 'threshold', 'outcome', 'CPU µs', 'baseline'];
  const rows = Object.entries(parts).flatMap(([part, { figures }]) =>
    figures.map((figure) => {
      const { name, max, estimate, store, baseline } = figure;
      const outcome = max === undefined ? ['', ''] : [`≤ ${max}`, outcomeOf(figure)];
      const cpu = [store, baseline].map((time) => (time ? show(time) : ''));
      return [part, name, show(estimate), ...outcome, ...cpu];
    }),
  );
  return markdown([head, ...rows]);
}

function requestTable({ scale }: Results): string {
  const rows = Object.entries(scale?.rows ?? {}).map(([name, each]) => {
    return [name, `${each.read}`, `${each.written}`, dollars(costOf(each))];
  });
  return markdown([['request', 'rows read', 'rows written', 'a million requests'], ...rows]);
}

function runTable(results: Results): string {
  const rows = Object.entries(results).map(([part, { date, seconds, load, machine }]) => {
    const measured = date.slice(0, 16).replace('T', ' ');
    return [part, measured, seconds.toFixed(), load.toFixed(1), machine];
  });
  return markdown([['part', 'began', 'seconds', 'load', 'machine'], ...rows]);
}

/** A Markdown table. All columns but the first are aligned right. */
function markdown([head = [], ...rows]: string[][]): string {
  const line = (cells: string[]) => `| ${cells.join(' | ')} |`;
  const alignment = head.map((_, column) => (column === 0 ? '---' : '--:'));
  return [line(head), line(alignment), ...rows.map(line)].join('\n');
}

const highest = ({ store, baseline }: Figure) => [store?.high ?? 0, baseline?.high ?? 0];
const dollars = (amount: number) => `$${amount.toFixed(2)}`;
