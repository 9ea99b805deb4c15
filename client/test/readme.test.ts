import { expect, test } from 'vitest';
import { DEFAULT_LIMITS } from '../src/options.ts';
import type { CreateOptions, StoreOptions } from '../src/types.ts';
import { README } from './documents.ts';

const DEFAULTS: Record<keyof StoreOptions | keyof CreateOptions, string | number> = {
  ...DEFAULT_LIMITS,
  signal: 'none',
  headers: 'none',
  idempotencyKey: 'random',
  baseUrl: 'required',
  apiKey: 'required',
  fetch: 'the global',
};

test('client/README.md has every option, with its default', () => {
  const [, options = ''] = README.split('\n## Options');
  const rows = Array.from(options.matchAll(/^\| `(\w+)` +\| (.+?) +\|/gm), (row) => row.slice(1));
  const defaults = Object.entries(DEFAULTS);
  expect(rows).toEqual(defaults.map(([name, value]) => [name, value.toLocaleString('en')]));
});
