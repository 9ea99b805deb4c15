/** Costs of requests at Cloudflare's list prices, beyond the quota included in the plan. CPU costs little, and is left out. */
import type { Results } from './report.ts';

/**
 * Workers Paid, in US dollars a million; read on 20 November 2026 in https://developers.cloudflare.com/, at
 * workers/platform/pricing, kv/platform/pricing and d1/platform/pricing.
 */
const PRICES = { request: 0.3, logLine: 0.6, kvRead: 0.5, rowRead: 0.001, rowWritten: 1 };

/** The usage of one request. */
export type Usage = typeof PRICES;

/** US dollars for a million requests. */
export function costOf({ request, logLine, kvRead, rowRead, rowWritten }: Usage): number {
  const platform = request * PRICES.request + logLine * PRICES.logLine;
  const storage = rowRead * PRICES.rowRead + rowWritten * PRICES.rowWritten;
  return platform + kvRead * PRICES.kvRead + storage;
}

/** The usage of each request, with a million animals. */
export function usageOf({ scale }: Results): Record<string, Usage> {
  const usage = Object.entries(scale?.rows ?? {}).map(([name, { read, written }]) => [
    name,
    // A key that is used a hundred times a second is read from KV once in ten seconds.
    { request: 1, logLine: 1, kvRead: 0.001, rowRead: read, rowWritten: written },
  ]);
  return Object.fromEntries(usage);
}

/** US dollars for a day of 1,000 rejected requests a second: with every log line, and with one in 100. */
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
  const dollars = (amount: number) => `$${amount.toFixed(2)}`;
  const costs = Object.entries(usageOf(results)).map(([name, use]) => [name, dollars(costOf(use))]);
  const flood = Object.entries(costsOfFlood()).map(([name, days]) => [name, ...days.map(dollars)]);
  const prices = Object.entries(PRICES).map(([unit, price]) => [unit, `$${price}`]);
  return {
    costs: [['request', 'a million requests'], ...costs],
    flood: [['response', 'every request logged', 'one in 100 logged'], ...flood],
    prices: [['unit', 'price of a million'], ...prices],
  };
}
