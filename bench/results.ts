/** What a run of the benchmark found: bench/results.json, from which BENCHMARKS.md is written. */
import type { Rounds } from './load.ts';
import type { Size } from './scale.ts';
import type { Summary } from './statistics.ts';
import type { Weight } from './weight.ts';

export type Results = {
  /** ISO 8601. */
  date: string;
  machine: Record<'processor' | 'memory' | 'system' | 'node' | 'wrangler' | 'workerd', string>;
  /** Requests a second, by race and contender. */
  races: Record<string, Rounds>;
  sizes: Size[];
  /** How SQLite carries out the statements of each case, among the most animals. */
  plans: Record<string, string[][]>;
  kvReadsPerThousand: number;
  weight: Weight;
  /** CPU of the store itself, in microseconds a request. */
  cpu: Record<string, Summary>;
};
