/** Runs `npm run keys` in this process, with a fake of `wrangler kv key` that fails if it gets an API key. */
import { expect } from 'vitest';
import { runInProcess } from './in-process.ts';

/** Finds an API key, of whatever environment. */
const API_KEY = /animal_[a-z]+_\w/;

type StoredRecord = { id: string; [member: string]: unknown };

export function fakeKeys() {
  let expected = '';

  async function runWranglerIn(environment: string, args: string[]): Promise<string> {
    expect(environment).toBe(expected);
    const [, , command, name = '', value = '', , metadata = ''] = args;
    const where = environment === 'local' ? '--local' : '--remote';
    expect(args.slice(-3)).toEqual(['--binding', 'API_KEYS', where]);
    // Lists of processes and wrangler's logs show arguments.
    for (const arg of args) expect(arg).not.toMatch(API_KEY);
    if (command === 'get') {
      fake.beforeGet();
      return fake.entries.get(name)?.value ?? '';
    }
    if (command === 'list') {
      expect([name, value]).toEqual(['--prefix', 'key:']);
      return JSON.stringify([...fake.entries.values()]);
    }
    // `keys list` shows the metadata: it would show a revoked key as active if only the value said so.
    expect(JSON.parse(metadata)).toEqual(JSON.parse(value));
    const isLost = fake.beforePut(name);
    if (!isLost) fake.entries.set(name, { name, value, metadata: JSON.parse(metadata) });
    fake.afterPut(name);
    return '';
  }

  const fake = {
    /** By name. */
    entries: new Map<string, { name: string; value: string; metadata: object }>(),

    /** Runs a command line. `typed`: on a terminal. */
    run(line: string, typed?: string) {
      expected = /--env (\w+)/.exec(line)?.[1] ?? 'local';
      const mocks = {
        '../../ops/wrangler.ts': { runWranglerIn },
        'node:timers/promises': { setTimeout: async (ms: number) => fake.beforePause(ms) },
      };
      return runInProcess('keys.ts', mocks, line.split(' '), typed);
    },

    /** Stores a record, of which a list shows `metadata`. */
    put(record: StoredRecord, metadata: object = record) {
      const name = `key:hash-of-${record.id}`;
      fake.entries.set(name, { name, value: JSON.stringify(record), metadata });
    },

    /** The records that are stored. */
    records: (): StoredRecord[] =>
      Array.from(fake.entries.values(), ({ value }) => JSON.parse(value)),

    /** Runs before each write, which changes nothing if it returns true. */
    beforePut: (_name: string): unknown => false,
    afterPut: (_name: string): void => {},
    beforeGet: (): void => {},
    beforePause: (_ms: number): void => {},
  };
  return fake;
}
