/** The sections of BENCHMARKS.md, as text from results. */
import type { Bar } from './bars.ts';
import { WITHOUT_APP } from './cpu.ts';
import { CONNECTIONS } from './load.ts';
import type { Results } from './results.ts';
import { ratio, type Summary, summarize } from './statistics.ts';

const KIB = 1024;
export const whole = (value: number) => Math.round(value).toLocaleString('en');
const share = (value: number) => value.toFixed(2);
const spread = ({ low, high }: Summary, write: (value: number) => string) =>
  `${write(low)}–${write(high)}`;

/** A Markdown table; every column after the first is for figures. */
export function table(head: string[], rows: string[][]): string {
  const line = (cells: string[]) => `| ${cells.join(' | ')} |`;
  const rule = head.map((_, column) => (column === 0 ? '---' : '--:'));
  return [line(head), line(rule), ...rows.map(line)].join('\n');
}

export function introduction({ date, machine }: Results): string {
  return `Written by \`npm run bench\`, which measures all of this again in some ten minutes (\`npm run bench -- --ten-million\`
adds a size). It needs no network and leaves the local store alone.

Measured on ${date.slice(0, 10)}: ${machine.processor}, ${machine.memory}, ${machine.system}; Node.js
${machine.node}, wrangler ${machine.wrangler}, workerd ${machine.workerd}.

The store runs as it would be deployed, in wrangler's test harness: the real runtime, with its local D1 and KV. So does what it
is measured against, [a bare worker](bench/baseline/index.ts) under the store's own wrangler.toml: the same
bindings and assets, the same platform calls and log line, but no authentication, no validation, no errors, no headers.

- **(a)** a constant answer;
- **(b)** a limiter call, one D1 select or insert, one log line;
- **(c)** the same after a KV read, which is how a worker checks a key without a memory.

All are measured in one run, in turn, round after round, each with ${CONNECTIONS} connections at a time; the engine is warm. A ratio is
the median of the ratios of the rounds; beside it, its quartiles: half of the rounds lie between them.`;
}

export function bars(all: Bar[], { races }: Results): string {
  const lists = races['A list of 20'] ?? {};
  const ofB = ratio(lists['(c) list of 20'] ?? [], lists['(b) list of 20'] ?? []).median;
  const rows = all.map(({ figure, least, most, value, spread: range, reached }) => [
    figure,
    least === undefined ? `≤ ${most}` : `≥ ${least}`,
    Number.isInteger(value) ? String(value) : share(value),
    range ? spread(range, share) : '',
    reached ? 'reached' : '**missed**',
  ]);
  return `## What it must reach

${table(['figure', 'bar', 'measured', 'quartiles', ''], rows)}

A ratio to (c) depends on what a KV read costs locally: (c) itself is ${share(ofB)} of (b). The bar against (c) is therefore as high as one of
${share(ofB * (all[0]?.least ?? 1))} against (b).

![The ratios, and the bars](bench/bars.svg)`;
}

export function speed({ races }: Results): string {
  const parts = Object.entries(races).map(([title, rounds]) => {
    const [, first = []] = Object.entries(rounds)[0] ?? [];
    const rows = Object.entries(rounds).map(([name, values]) => {
      const figures = summarize(values);
      const of = ratio(values, first);
      const time = `${((CONNECTIONS * 1000) / figures.median).toFixed(1)} ms`;
      return [name, whole(figures.median), spread(figures, whole), time, share(of.median)];
    });
    return `### ${title}

${table(['', 'requests a second', 'quartiles', 'a request takes', 'of the first line'], rows)}`;
  });
  return `## Speed

${parts.join('\n\n')}

Locally the static assets, the limiter (a Durable Object here) and the log line (which another process collects) weigh
much more than in production: what they cost alone is under "The platform alone". That is why the baseline has them all.`;
}

export function scale({ sizes, plans }: Results): string {
  const names = Object.keys(sizes[0]?.usage ?? {});
  const head = ['', ...sizes.map(({ pets }) => whole(pets))];
  const rows = names.map((name) => [
    name,
    ...sizes.map(({ usage }) => `${usage[name]?.rowsRead} / ${usage[name]?.rowsWritten}`),
  ]);
  const largest = sizes.at(-1);
  const bytes = (largest?.databaseBytes ?? 0) / (largest?.pets ?? 1);
  const size = sizes.map(({ databaseBytes }) => `${whole(databaseBytes / KIB)} KiB`);
  const steps = Object.entries(plans).map(([name, statements]) => [
    name,
    [...new Set(statements.flat().filter((step) => /^(SEARCH|SCAN \w|USE)/.test(step)))].join('; '),
  ]);
  return `## Scale

Rows read / rows written by a request, by the number of animals. These are exact, and are what D1 bills:

${table(head, [...rows, ['size of the database', ...size]])}

![Requests a second by size](bench/sizes.svg)

How SQLite carries the statements out (\`EXPLAIN QUERY PLAN\`, among the most animals; steps on the table itself):

${table(
  ['', 'plan'],
  steps.map(([name = '', plan = '']) => [name, plan || 'an insert, no search']),
).replaceAll('--:', '---')}

An animal of the largest takes ${whole(bytes)} bytes, with its index entry and a short name. At that, the 10 GB that a D1 database may
have hold ${whole(10e9 / bytes / 1e6)} million; names of 255 characters take several times as much. Past one database: [docs/scaling.md](docs/scaling.md).`;
}

export function weight({ weight, cpu }: Results): string {
  const parts = Object.entries(weight.packages).map(([name, bytes]) => [
    name,
    `${(bytes / KIB).toFixed(1)} KiB`,
  ]);
  const empty = cpu[WITHOUT_APP]?.median ?? 0;
  const times = Object.entries(cpu).map(([name, time]) => [
    name,
    `${whole(time.median)} µs`,
    `${spread(time, whole)} µs`,
    name === WITHOUT_APP ? '' : `${whole(time.median - empty)} µs`,
  ]);
  return `## Weight

The bundle: ${(weight.gzipBytes / KIB).toFixed(1)} KiB gzip, ${(weight.bytes / KIB).toFixed(1)} KiB as it is. To load and evaluate it in a new isolate of Node.js takes
${weight.startMs.median.toFixed(1)} ms of CPU (${spread(weight.startMs, (value) => value.toFixed(1))}; Cloudflare allows a second). What is in it, before compression:

${table(['package', 'size'], parts)}

CPU of a request in one isolate of workerd, with bindings that answer at once (\`npm run bench:cpu\`), and how much
of it is the store's, beyond making a Request and reading a Response:

${table(['', 'CPU', 'quartiles', 'the store'], times)}`;
}
