/** What requests cost at Cloudflare's list prices, beyond what the plan includes. CPU comes on top, and adds little. */
import type { Results } from './report.ts';

/**
 * Workers Paid, in US dollars a million; read on 20 November 2026 in https://developers.cloudflare.com/, at
 * workers/platform/pricing, kv/platform/pricing and d1/platform/pricing.
 */
const PRICES = { request: 0.3, logLine: 0.6, kvRead: 0.5, rowRead: 0.001, rowWritten: 1 };

/** What one request uses. */
export type Use = typeof PRICES;

/** US dollars for a million requests. */
export function costOf({ request, logLine, kvRead, rowRead, rowWritten }: Use): number {
  const platform = request * PRICES.request + logLine * PRICES.logLine;
  const storage = rowRead * PRICES.rowRead + rowWritten * PRICES.rowWritten;
  return platform + kvRead * PRICES.kvRead + storage;
}

/** What each operation uses, among a million animals. */
export function usesOf({ scale }: Results): Record<string, Use> {
  const uses = Object.entries(scale?.rows ?? {}).map(([name, { read, written }]) => [
    name,
    // A key that is used a hundred times a second is read from KV once in ten seconds.
    { request: 1, logLine: 1, kvRead: 0.001, rowRead: read, rowWritten: written },
  ]);
  return Object.fromEntries(uses);
}

/** US dollars for a day of 1,000 refused requests a second: with every log line, and with one of 100. */
export function costsOfFlood(): Record<string, [day: number, sampled: number]> {
  const day = (kvRead: number, logLine: number) =>
    86.4 * costOf({ request: 1, logLine, kvRead, rowRead: 0, rowWritten: 0 });
  return {
    '401 without a well-formed key, 404, 429': [day(0, 1), day(0, 0.01)],
    // Every unknown key is looked up, because the limit of an address must not reject valid keys.
    '401 or 429, unknown keys': [day(1, 1), day(1, 0.01)],
  };
}

/** The tables of BENCHMARKS.md. */
export function costTables(results: Results): Record<'costs' | 'flood' | 'prices', string[][]> {
  const costs = Object.entries(usesOf(results)).map(([name, use]) => [name, dollars(costOf(use))]);
  const flood = Object.entries(costsOfFlood()).map(([name, days]) => [name, ...days.map(dollars)]);
  const prices = Object.entries(PRICES).map(([unit, price]) => [unit, `$${price}`]);
  return {
    costs: [['', 'a million requests'], ...costs],
    flood: [['', 'a day', 'one log line in 100'], ...flood],
    prices: [['a million', 'list price'], ...prices],
  };
}

function dollars(amount: number): string {
  return `$${amount.toFixed(2)}`;
}
