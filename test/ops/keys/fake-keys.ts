/**
 * Runs `npm run keys` in this process, with a fake of `wrangler kv` that fails if it gets an API
 * key.
 */
import { existsSync, readFileSync } from 'node:fs';
import { expect } from 'vitest';
import { runInProcess } from '../command.ts';

/** Finds an API key, of whatever environment. */
const API_KEY = /animal_[a-z]+_\w/;

type StoredRecord = { id: string; [member: string]: unknown };

export function fakeKeys() {
  let expected = '';
  /** The files with what wrangler read. */
  const files: string[] = [];

  async function runWranglerIn(environment: string, args: string[]) {
    // Lists of processes and wrangler's logs show arguments.
    for (const arg of args) expect(arg).not.toMatch(API_KEY);
    const [, kind, command = '', name = ''] = args;
    const isLocal = expected === 'local';
    const place = ['--binding', 'API_KEYS', isLocal ? '--local' : '--remote'];
    expect([environment, ...args.slice(-3)]).toEqual([expected, ...place]);
    const optionOf = (option: string) => args[args.indexOf(option) + 1] ?? '';
    fake.before(command, name);
    if (kind === 'bulk') {
      files.push(name);
      const names: string[] = JSON.parse(readFileSync(name, 'utf8'));
      expect(names).not.toEqual([]);
      expect(names.length).toBeLessThanOrEqual(100);
      const entries = names.map((each) => {
        const value = fake.values.get(each) ?? null;
        return [each, isLocal ? { value } : value];
      });
      return JSON.stringify(Object.fromEntries(entries));
    }
    if (command === 'list') {
      const names = [...fake.values.keys()].filter((each) => each.startsWith(optionOf('--prefix')));
      return JSON.stringify(
        names.map((each) => ({ name: each, metadata: fake.metadata.get(each) })),
      );
    }
    if (command === 'get') {
      return `${fake.values.get(name) ?? 'Value not found'}\n`;
    }
    expect(command).toBe('put');
    files.push(optionOf('--path'));
    const value = readFileSync(optionOf('--path'), 'utf8');
    // KV's limit.
    const isSmall = Buffer.byteLength(value) <= 1024;
    expect(args.includes('--metadata') ? optionOf('--metadata') : '').toBe(isSmall ? value : '');
    fake.values.set(name, value);
    return '';
  }

  const fake = {
    /** By name. */
    values: new Map<string, string>(),
    /** By name, where it differs from what the commands write. */
    metadata: new Map<string, object>(),

    /** Runs a command line. `typed`: on a terminal. */
    async run(line: string, typed?: string) {
      expected = /--env (\w+)/.exec(line)?.[1] ?? 'local';
      const mocks = {
        '../../ops/command/wrangler.ts': { runWranglerIn, requireSetUp: () => {} },
      };
      const result = await runInProcess('keys.ts', mocks, line.split(' '), typed);
      expect(files.filter(existsSync)).toEqual([]);
      return result;
    },

    put(record: StoredRecord, name = `key:${record.id}`) {
      fake.values.set(name, JSON.stringify(record));
    },

    /** The records that are fake.values. */
    records: (): StoredRecord[] => Array.from(fake.values.values(), (value) => JSON.parse(value)),

    /** Called before a command, such as `put`, takes effect. */
    before: (_command: string, _name: string) => {},
  };
  return fake;
}
