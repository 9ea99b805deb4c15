/** Costs at Cloudflare's list prices, beyond the quota included in the plan. CPU costs little, and is left out. */
import type { Rows } from './results.ts';

/**
 * Workers Paid, US dollars a million, from 1 December 2026: developers.cloudflare.com, {workers,kv,d1}/platform/pricing. Log
 * lines: developers.cloudflare.com/observability/pricing, for lines of 1,000 bytes with the attributes that Cloudflare adds.
 * A million of them are 1 GB, which costs $0.25 to ingest, and $0.10 a month to store, for seven days.
 */
const PRICES = {
  request: 0.3,
  logLine: 0.25 + (0.1 * 7) / 30,
  kvRead: 0.5,
  rowRead: 0.001,
  rowWritten: 1,
};

/** US dollars for a million requests that read and write these rows, each with one log line. */
export function costOf({ read, written }: Rows): number {
  // A key that is used a hundred times a second is read from KV once in ten seconds.
  const perRequest = PRICES.request + PRICES.logLine + PRICES.kvRead / 1000;
  return perRequest + read * PRICES.rowRead + written * PRICES.rowWritten;
}

/** US dollars for a day of 1,000 rejected requests a second. */
export function costOfFlood({ kvReads, logLines }: Record<'kvReads' | 'logLines', number>): number {
  return 86.4 * (PRICES.request + kvReads * PRICES.kvRead + logLines * PRICES.logLine);
}
