/** Runs `npm run keys` in this process, with a fake of `wrangler kv key` that fails if it gets an API key. */
import { parseArgs } from 'node:util';
import { expect, vi } from 'vitest';
import { runInProcess } from '../../support/command.ts';

/** Finds an API key, of whatever environment. */
const API_KEY = /animal_[a-z]+_\w/;

/** What these commands use of wrangler's options. */
const OPTIONS = {
  binding: { type: 'string' },
  local: { type: 'boolean' },
  remote: { type: 'boolean' },
  prefix: { type: 'string', default: '' },
  metadata: { type: 'string', default: 'null' },
} as const;

type StoredRecord = { id: string; [member: string]: unknown };
type Entry = { name: string; value: string; metadata: unknown };

export function fakeKeys() {
  let expected = '';

  async function runWranglerIn(
    environment: string,
    args: string[],
    { signal }: { signal?: AbortSignal } = {},
  ): Promise<string> {
    // Lists of processes and wrangler's logs show arguments.
    for (const arg of args) expect(arg).not.toMatch(API_KEY);
    const { values, positionals } = parseArgs({ args, options: OPTIONS, allowPositionals: true });
    const [, , command, name = '', value = ''] = positionals;
    const { binding, local = false, remote = false, prefix, metadata } = values;
    const isStore = environment === expected && binding === 'API_KEYS';
    const isPlace = local === (environment === 'local') && remote === !local;
    // Any other namespace is empty, and keeps nothing.
    const entries = isStore && isPlace ? fake.entries : new Map<string, Entry>();
    if (command === 'list') {
      const listed = [...entries.values()].filter((entry) => entry.name.startsWith(prefix));
      return JSON.stringify(listed);
    }
    if (command === 'get') {
      fake.beforeGet(name);
      signal?.throwIfAborted();
      return entries.get(name)?.value ?? 'Value not found';
    }
    expect(command).toBe('put');
    const isLost = fake.beforePut(name);
    signal?.throwIfAborted();
    if (!isLost) entries.set(name, { name, value, metadata: JSON.parse(metadata) });
    fake.afterPut(name);
    signal?.throwIfAborted();
    return '';
  }

  const fake = {
    /** By name. */
    entries: new Map<string, Entry>(),

    /** Runs a command line. `typed`: on a terminal. */
    async run(line: string, typed?: string) {
      expected = /--env (\w+)/.exec(line)?.[1] ?? 'local';
      const mocks = {
        '../../ops/command/wrangler.ts': { runWranglerIn },
        'node:timers/promises': { setTimeout: async (ms: number) => fake.beforePause(ms) },
      };
      // By the clock of the test.
      const timeout = vi.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => {
        const end = Date.now() + ms;
        const throwIfAborted = () => {
          if (Date.now() >= end) throw new Error('The operation was aborted');
        };
        return Object.assign(new AbortController().signal, { throwIfAborted });
      });
      const result = await runInProcess('keys.ts', mocks, line.split(' '), typed);
      timeout.mockRestore();
      return result;
    },

    /** Stores a record, of which a list shows `metadata`. */
    put(record: StoredRecord, metadata: unknown = record, name = `key:hash-of-${record.id}`) {
      fake.entries.set(name, { name, value: JSON.stringify(record), metadata });
    },

    /** The records that are stored. */
    records: (): StoredRecord[] =>
      Array.from(fake.entries.values(), ({ value }) => JSON.parse(value)),

    /** Runs before each write, which changes nothing if it returns true. */
    beforePut: (_name: string): unknown => false,
    afterPut: (_name: string): void => {},
    beforeGet: (_name: string): void => {},
    beforePause: (_ms: number): void => {},
  };
  return fake;
}
