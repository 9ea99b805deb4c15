/** Runs the commands of `npm run keys` in this process, on KV namespaces in memory. */
import { expect } from 'vitest';
import type { Namespace } from '../../ops/keys.ts';
import { keysProgram } from '../../ops/keys.ts';
import { runInProcess } from './in-process.ts';
import type { Result } from './project.ts';

export type Listed = {
  id: string;
  label: string;
  scopes: string[];
  createdAt: string;
  expiresAt: string | null;
  state: string;
};
export type NewKey = Omit<Listed, 'state'> & { key: string };

type Entries = Map<string, { value: string; metadata?: object }>;

export function keysCommand() {
  const emptied = (): Entries => new Map();
  const entries = { local: emptied(), staging: emptied(), production: emptied() };
  let putHook = (_name: string): unknown => true;
  const inMemory = (stored: Entries): Namespace => ({
    list: async () => Array.from(stored, ([name, { metadata }]) => ({ name, metadata })),
    get: async (name) => stored.get(name)?.value ?? '',
    async put(name, record) {
      if (putHook(name) !== 'lost')
        stored.set(name, { value: JSON.stringify(record), metadata: record });
    },
  });

  /** `typed`: on a terminal. */
  const type = (typed: string, ...args: string[]): Promise<Result> => {
    const program = keysProgram((environment) => inMemory(entries[environment]));
    return runInProcess(program, args, typed);
  };
  const run = (...args: string[]) => type('', ...args);

  /** The output of a command that must succeed. */
  async function keys(...args: string[]): Promise<string> {
    const { code, stdout, stderr } = await run(...args);
    expect(code, stderr).toBe(0);
    return stdout;
  }

  return {
    /** What the namespaces contain, by environment. */
    entries,
    run,
    keys,
    json: async <T>(...args: string[]): Promise<T> => JSON.parse(await keys(...args, '--json')),
    type,
    /** Runs before each write; one for which it returns `lost` changes nothing. */
    onPut(hook: typeof putHook) {
      putHook = hook;
    },
  };
}
