/** What the store must reach. */
import type { Results } from './results.ts';
import { ratio, type Summary } from './statistics.ts';

export type Bar = {
  figure: string;
  /** The least, or the most, that it may be. */
  least?: number;
  most?: number;
  value: number;
  /** Of a ratio: its quartiles over the rounds. */
  spread?: Summary;
  reached: boolean;
};

/** Ratios of requests a second: one contender of a race against another. */
const RATIOS = [
  {
    ...{ figure: 'list of 20 against (c)', least: 1.1, race: 'A list of 20' },
    ...{ one: 'store, list of 20', other: '(c) list of 20' },
  },
  {
    ...{ figure: 'list of 20 against (b)', least: 0.9, race: 'A list of 20' },
    ...{ one: 'store, list of 20', other: '(b) list of 20' },
  },
  {
    ...{ figure: 'list of 100 against (b) with 100 rows', least: 0.9, race: 'A list of 100' },
    ...{ one: 'store, list of 100', other: '(b) list of 100' },
  },
  {
    ...{ figure: 'create against (b) inserting', least: 0.85, race: 'A create' },
    ...{ one: 'store, create', other: '(b) create' },
  },
  {
    figure: 'a page deep in 1 million animals against the first page of one thousand',
    ...{ least: 0.9, race: 'Sizes' },
    ...{ one: 'deep page among 1,000,000', other: 'first page among 1,000' },
  },
];

const KIB = 1024;

export function barsOf({ races, sizes, weight, kvReadsPerThousand }: Results): Bar[] {
  const ratios = RATIOS.map(({ figure, least, race, one, other }) => {
    const spread = ratio(races[race]?.[one] ?? [], races[race]?.[other] ?? []);
    return { figure, least, value: spread.median, spread, reached: spread.median >= least };
  });
  const uses = sizes.flatMap(({ usage }) => Object.entries(usage));
  const beyondLimit = uses.flatMap(([name, { rowsRead }]) => {
    const limit = /^list of ([0-9]+)/.exec(name)?.[1];
    return limit ? [rowsRead - Number(limit)] : [];
  });
  const written = uses.flatMap(([name, use]) => (name === 'create' ? [use.rowsWritten] : []));
  const atMost = (figure: string, most: number, value: number): Bar => ({
    ...{ figure, most, value },
    reached: value <= most,
  });
  return [
    ...ratios,
    atMost('rows read by a list, beyond its limit', 1, Math.max(...beyondLimit)),
    atMost('rows written by a create without Idempotency-Key', 3, Math.max(...written)),
    atMost('KV reads of 1,000 requests with one key', 1, kvReadsPerThousand),
    atMost('bundle, gzip, in KiB', 64, weight.gzipBytes / KIB),
  ];
}
