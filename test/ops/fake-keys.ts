/** Runs `npm run keys` in this process, with a fake of `wrangler kv key`. */
import { expect } from 'vitest';
import { runInProcess } from './in-process.ts';

type StoredRecord = { id: string; [member: string]: unknown };

export function fakeKeys() {
  async function runIn(environment: string, args: string[]): Promise<string> {
    const [, , command, name = '', value = '', , metadata = ''] = args;
    const where = environment === 'local' ? '--local' : '--remote';
    expect(args.slice(-3)).toEqual(['--binding', 'API_KEYS', where]);
    fake.environment = environment;
    if (command === 'get') return fake.entries.get(name)?.value ?? '';
    if (command === 'list') {
      expect([name, value]).toEqual(['--prefix', 'key:']);
      return JSON.stringify([...fake.entries.values()]);
    }
    const isLost = fake.beforePut(name);
    if (!isLost) fake.entries.set(name, { name, value, metadata: JSON.parse(metadata) });
    return '';
  }

  const fake = {
    /** Of the last call. */
    environment: '',
    /** By name. */
    entries: new Map<string, { name: string; value: string; metadata: object }>(),

    /** Runs a command line. `typed`: on a terminal. */
    run: (line: string, typed?: string) =>
      runInProcess('keys.ts', { '../../ops/wrangler.ts': { runIn } }, line.split(' '), typed),

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
  };
  return fake;
}
