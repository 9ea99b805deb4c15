/** The section of BENCHMARKS.md about cost, as text from results. */
import { type Bill, costOf, costOfMillionLines, PRICES, total, type Use } from './cost.ts';
import type { Results } from './results.ts';
import { table, whole } from './sections.ts';

const dollars = (value: number) => `$${value.toFixed(4)}`;

/** Of a load that is refused: requests a second. */
const REFUSED_PER_SECOND = 1_000;
const REFUSED_PER_DAY = REFUSED_PER_SECOND * 86_400;
/** One line of so many, where an operator samples the lines of refused requests. */
const SAMPLED = 100;
/** The size for which the price by volume is given. */
const LINE_BYTES = 1_000;

/** What operations use, and what a million of each cost. */
export function operationCosts({
  sizes,
  cpu,
  kvReadsPerThousand,
}: Results): Record<string, { use: Use; bill: Bill }> {
  const usage = sizes.at(-1)?.usage ?? {};
  const asked: Record<string, [string, string]> = {
    'list of 20': ['list of 20, first page', 'list of 20'],
    'list of 100': ['list of 100', 'list of 100'],
    get: ['get', 'get'],
    create: ['create', 'create'],
    'create with Idempotency-Key': ['create with Idempotency-Key', 'create'],
  };
  const costs = Object.entries(asked).map(([name, [counted, timed]]) => {
    const { rowsRead: rowRead = 0, rowsWritten: rowWritten = 0 } = usage[counted] ?? {};
    const cpuMs = (cpu[timed]?.median ?? 0) / 1000;
    const use = { cpuMs, rowRead, rowWritten, kvRead: kvReadsPerThousand / 1000, logLine: 1 };
    return [name, { use, bill: costOf(1e6, use) }];
  });
  return Object.fromEntries(costs);
}

export type RefusalCost = { name: string; use: Use; day: Bill; sampled: Bill };

/** What a day of refused requests costs, by the reason. None of them reaches D1. */
export function refusalCosts({ cpu }: Results): RefusalCost[] {
  const kinds: { name: string; timed: string; kvRead?: number }[] = [
    { name: '401, no key', timed: 'refused: no key' },
    { name: '401, malformed key', timed: 'refused: malformed key' },
    // Each is read: the budget of an address must not refuse a valid key that is sent from it.
    { name: '401 or 429, unknown keys', timed: 'refused: unknown key', kvRead: 1 },
    { name: '404', timed: 'refused: no such path' },
    { name: '429', timed: 'refused: rate limited' },
  ];
  return kinds.map(({ name, timed, kvRead = 0 }) => {
    const cpuMs = (cpu[timed]?.median ?? 0) / 1000;
    const use = { cpuMs, kvRead, rowRead: 0, rowWritten: 0, logLine: 1 };
    return {
      name,
      use,
      day: costOf(REFUSED_PER_DAY, use),
      sampled: costOf(REFUSED_PER_DAY, { ...use, logLine: 1 / SAMPLED }),
    };
  });
}

export function cost(results: Results): string {
  const operations = Object.entries(operationCosts(results)).map(([name, { use, bill }]) => [
    name,
    dollars(bill.request),
    dollars(bill.logLine),
    `${use.cpuMs.toFixed(3)} ms: ${dollars(bill.cpuMs)}`,
    `${use.kvRead}: ${dollars(bill.kvRead)}`,
    `${use.rowRead}: ${dollars(bill.rowRead)}`,
    `${use.rowWritten}: ${dollars(bill.rowWritten)}`,
    `**${dollars(total(bill))}**`,
  ]);
  const refusals = refusalCosts(results).map(({ name, use, day, sampled }) => [
    name,
    `$${day.request.toFixed(2)}`,
    `$${day.logLine.toFixed(2)}`,
    `${use.cpuMs.toFixed(3)} ms: $${day.cpuMs.toFixed(2)}`,
    `${use.kvRead}: $${day.kvRead.toFixed(2)}`,
    `**$${total(day).toFixed(2)}**`,
    `$${total(sampled).toFixed(2)}`,
  ]);
  const prices = Object.values(PRICES).map(({ unit, dollars, per, source }) => [
    per === 1 ? unit : `${whole(per)} ${unit}`,
    `$${dollars}`,
    source,
  ]);
  const { kvReadsPerThousand } = results;
  const withoutMemory = PRICES.kvRead.dollars;
  return `## Cost

US dollars for a million requests, beyond what the plan includes: what one request uses, as measured above, times a million,
times the list price. Every request writes one log line.

${table(['', 'request', 'log line', 'CPU', 'KV reads', 'rows read', 'rows written', 'together'], operations)}

KV is read once in a thousand requests of a busy key (measured: ${kvReadsPerThousand} of 1,000), because the isolate remembers the
record for ten seconds. Read every time, it would add ${dollars(withoutMemory)} to each line.

A refused request is billed as a request, too. US dollars for a day of ${whole(REFUSED_PER_SECOND)} refused requests a second; the last
column is for a log with one line in ${SAMPLED}:

${table(['', 'requests', 'log lines', 'CPU', 'KV reads', 'together', 'sampled'], refusals)}

From 1 December 2026 Cloudflare bills log lines by volume, and so the figures above change: a million lines of ${whole(LINE_BYTES)} bytes,
with the attributes that Cloudflare adds, then cost ${dollars(costOfMillionLines(LINE_BYTES))}, kept for seven days.

${table(['list price of', 'dollars', 'source'], prices)}`;
}
