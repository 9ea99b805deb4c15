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
  gigabyteMonth: {
    unit: 'GB stored for a month',
    dollars: 0.75,
    per: 1,
    source: 'https://developers.cloudflare.com/d1/platform/pricing/',
  },
} as const satisfies Record<string, Price>;

/** What one request uses of what is billed by use. */
export type Use = Record<'cpuMs' | 'kvRead' | 'rowRead' | 'rowWritten', number>;

export type Bill = Record<'request' | keyof Use, number>;

/** US dollars for a million requests, item by item. */
export function costOfMillion(use: Use): Bill {
  const cost = (item: keyof Bill, amount: number) =>
    (amount * 1e6 * PRICES[item].dollars) / PRICES[item].per;
  return {
    request: cost('request', 1),
    cpuMs: cost('cpuMs', use.cpuMs),
    kvRead: cost('kvRead', use.kvRead),
    rowRead: cost('rowRead', use.rowRead),
    rowWritten: cost('rowWritten', use.rowWritten),
  };
}

export function total(bill: Bill): number {
  return Object.values(bill).reduce((sum, item) => sum + item, 0);
}
