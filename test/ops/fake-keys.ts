/** Runs `npm run keys` in this process, with a fake of `wrangler kv key`. */
import { readFile } from 'node:fs/promises';
import { expect } from 'vitest';
import type { Environment } from '../../ops/command-line.ts';
import type { KeyRecord } from '../../src/auth/key-record.ts';
import { runInProcess } from './in-process.ts';

type Entries = Map<string, { value: string; metadata?: object }>;

export function fakeKeys() {
  const emptied = (): Entries => new Map();
  const entries = { local: emptied(), staging: emptied(), production: emptied() };
  let putHook = (_name: string): unknown => true;

  async function runIn(environment: Environment, args: string[]): Promise<string> {
    const [, , command, name = '', ...options] = args;
    const where = environment === 'local' ? '--local' : '--remote';
    expect(args.slice(-3)).toEqual(['--binding', 'API_KEYS', where]);
    const stored = entries[environment];
    if (command === 'get') return stored.get(name)?.value ?? '';
    if (command === 'list') {
      expect([name, options[0]]).toEqual(['--prefix', 'key:']);
      return JSON.stringify(Array.from(stored, ([name, { metadata }]) => ({ name, metadata })));
    }
    const [, path = '', , metadata = ''] = options;
    const entry = { value: await readFile(path, 'utf8'), metadata: JSON.parse(metadata) };
    if (putHook(name) !== 'lost') stored.set(name, entry);
    return '';
  }

  /** Runs the command. `typed`: on a terminal. */
  const type = (typed: string, ...args: string[]) =>
    runInProcess('keys.ts', { '../../ops/wrangler.ts': { runIn } }, args, typed);
  const run = (...args: string[]) => type('', ...args);

  /** The output of a command that must succeed. */
  async function keys(...args: string[]) {
    const { code, stdout, stderr } = await run(...args);
    expect(code, stderr).toBe(0);
    return { stdout, stderr };
  }

  /** Runs a command that prints a new key, and returns that key and its id. */
  async function issue(...args: string[]) {
    const { stdout, stderr } = await keys(...args);
    const [id = ''] = /key_\w+/.exec(stderr) ?? [];
    return { id, key: stdout.trimEnd() };
  }

  /** Adds a record of production. */
  function put(record: KeyRecord & object) {
    const entry = { value: JSON.stringify(record), metadata: record };
    entries.production.set(`key:${record.id.padEnd(64, '0')}`, entry);
  }

  return {
    /** What the namespaces contain, by environment. */
    entries,
    ...{ run, keys, issue, type, put },
    /** Runs before each write; one for which it returns `lost` changes nothing. */
    onPut(hook: typeof putHook) {
      putHook = hook;
    },
  };
}
