/** What requests cost at Cloudflare's list prices, beyond what the plan includes. */

type Price = { unit: string; dollars: number; per: number; source: string };

/** Workers Paid, in US dollars; read on 20 November 2026. The only statement of prices in the project. */
export const PRICES = {
  request: {
    unit: 'requests',
    dollars: 0.3,
    per: 1e6,
    source: 'https://developers.cloudflare.com/workers/platform/pricing/',
  },
  cpuMs: {
    unit: 'ms of CPU',
    dollars: 0.02,
    per: 1e6,
    source: 'https://developers.cloudflare.com/workers/platform/pricing/',
  },
  kvRead: {
    unit: 'KV reads',
    dollars: 0.5,
    per: 1e6,
    source: 'https://developers.cloudflare.com/kv/platform/pricing/',
  },
  rowRead: {
    unit: 'rows read',
    dollars: 0.001,
    per: 1e6,
    source: 'https://developers.cloudflare.com/d1/platform/pricing/',
  },
  rowWritten: {
    unit: 'rows written',
    dollars: 1,
    per: 1e6,
    source: 'https://developers.cloudflare.com/d1/platform/pricing/',
  },
  logLine: {
    unit: 'log lines (until 30 November 2026)',
    dollars: 0.6,
    per: 1e6,
    source: 'https://developers.cloudflare.com/workers/platform/pricing/#workers-logs',
  },
  logGigabyte: {
    unit: 'GB of log lines (from 1 December 2026)',
    dollars: 0.25,
    per: 1,
    source: 'https://developers.cloudflare.com/observability/pricing/',
  },
  logGigabyteMonth: {
    unit: 'GB of log lines stored for a month (from 1 December 2026)',
    dollars: 0.1,
    per: 1,
    source: 'https://developers.cloudflare.com/observability/pricing/',
  },
  gigabyteMonth: {
    unit: 'GB stored for a month',
    dollars: 0.75,
    per: 1,
    source: 'https://developers.cloudflare.com/d1/platform/pricing/',
  },
} as const satisfies Record<string, Price>;

/** What one request uses of what is billed by use. A refused request is a request, and writes a line as well. */
export type Use = Record<'cpuMs' | 'kvRead' | 'rowRead' | 'rowWritten' | 'logLine', number>;

export type Bill = Record<'request' | keyof Use, number>;

/** US dollars for so many requests, item by item. */
export function costOf(requests: number, use: Use): Bill {
  return {
    request: price('request', requests),
    cpuMs: price('cpuMs', use.cpuMs * requests),
    kvRead: price('kvRead', use.kvRead * requests),
    rowRead: price('rowRead', use.rowRead * requests),
    rowWritten: price('rowWritten', use.rowWritten * requests),
    logLine: price('logLine', use.logLine * requests),
  };
}

/** Workers Logs keeps a line for a week of the month that storage is billed by. */
const KEPT_MONTHS = 7 / 30;

/** US dollars for a million log lines of so many bytes, by the price list of December 2026. */
export function costOfMillionLines(bytes: number): number {
  const gigabytes = (bytes * 1e6) / 1e9;
  return price('logGigabyte', gigabytes) + price('logGigabyteMonth', gigabytes * KEPT_MONTHS);
}

export function total(bill: Bill): number {
  return Object.values(bill).reduce((sum, item) => sum + item, 0);
}

function price(item: keyof typeof PRICES, amount: number): number {
  return (amount * PRICES[item].dollars) / PRICES[item].per;
}
