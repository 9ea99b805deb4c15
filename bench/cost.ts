/** What requests cost at Cloudflare's list prices, beyond what the plan includes. CPU comes on top, and adds little. */
import type { Results } from './results.ts';

/** Workers Paid, in US dollars a million; read on 20 November 2026. The only statement of prices in the project. */
const PRICES = {
  request: price(0.3, 'requests', 'workers/platform/pricing'),
  logLine: price(0.6, 'log lines', 'workers/platform/pricing'),
  kvRead: price(0.5, 'KV reads', 'kv/platform/pricing'),
  rowRead: price(0.001, 'rows read', 'd1/platform/pricing'),
  rowWritten: price(1, 'rows written', 'd1/platform/pricing'),
  cpuMs: price(0.02, 'milliseconds of CPU', 'workers/platform/pricing'),
  // A GB taken in, and a GB stored for a month: a line has 1,000 bytes, and is kept for 7 days of 30.
  newLogLine: price(
    0.25 + (0.1 * 7) / 30,
    'log lines, from 1 December 2026',
    'observability/pricing',
  ),
};

function price(dollars: number, unit: string, page: string) {
  return { dollars, unit, source: `https://developers.cloudflare.com/${page}/` };
}

const ITEMS = ['request', 'logLine', 'kvRead', 'rowRead', 'rowWritten'] as const;

/** What one request uses. */
export type Use = Record<(typeof ITEMS)[number], number>;

/** A refused request: it is billed and logged as any other, and never reaches D1. */
const REFUSED: Use = { request: 1, logLine: 1, kvRead: 0, rowRead: 0, rowWritten: 0 };

/** US dollars for a million requests. */
export function costOf(use: Use): number {
  return ITEMS.reduce((sum, item) => sum + use[item] * PRICES[item].dollars, 0);
}

/** What each operation uses, among a million animals. */
export function usesOf({ scale }: Results): Record<string, Use> {
  const uses = Object.entries(scale?.rows ?? {}).map(([name, { read, written }]) => [
    name,
    // A busy key is read from KV once in a thousand requests: see waits.ts.
    { request: 1, logLine: 1, kvRead: 0.001, rowRead: read, rowWritten: written },
  ]);
  return Object.fromEntries(uses);
}

/** US dollars for a day of 1,000 refused requests a second: with every log line, and with one of 100. */
export function costsOfFlood(): Record<string, [day: number, sampled: number]> {
  const day = (kvRead: number, logLine: number) => 86.4 * costOf({ ...REFUSED, kvRead, logLine });
  return {
    '401, no key': [day(0, 1), day(0, 0.01)],
    '401, malformed key': [day(0, 1), day(0, 0.01)],
    // Each is looked up: the budget of an address must not refuse a valid key that is sent from it.
    '401 or 429, unknown keys': [day(1, 1), day(1, 0.01)],
    '404': [day(0, 1), day(0, 0.01)],
    '429': [day(0, 1), day(0, 0.01)],
  };
}

/** The tables of BENCHMARKS.md. */
export function costTables(results: Results): Record<'costs' | 'flood' | 'prices', string[][]> {
  const costs = Object.entries(usesOf(results)).map(([name, use]) => [
    name,
    ...ITEMS.map((item) => `$${(use[item] * PRICES[item].dollars).toFixed(4)}`),
    `**$${costOf(use).toFixed(4)}**`,
  ]);
  const flood = Object.entries(costsOfFlood()).map(([name, dollars]) => [
    name,
    ...dollars.map((each) => `$${each.toFixed(2)}`),
  ]);
  const prices = Object.values(PRICES).map(({ unit, dollars, source }) => [
    ...[unit, `$${Number(dollars.toFixed(4))}`, source],
  ]);
  return {
    costs: [['', ...ITEMS.map((item) => PRICES[item].unit), 'together'], ...costs],
    flood: [['', 'a day', 'one log line in 100'], ...flood],
    prices: [['a million', 'list price', 'source'], ...prices],
  };
}
