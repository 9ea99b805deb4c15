/** Runs the commands of `npm run keys` in this process, on KV namespaces in memory. */
import { expect, vi } from 'vitest';
import { run as runProgram } from '../../ops/command-line.ts';
import { keysProgram } from '../../ops/keys/keys.ts';
import type { Namespace } from '../../ops/keys/namespace.ts';
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

type Entries = Map<string, { value: string; metadata?: unknown }>;

export function keysCommand() {
  const emptied = (): Entries => new Map();
  const entries = { local: emptied(), staging: emptied(), production: emptied() };
  let failing: string | undefined;
  const inMemory = (stored: Entries): Namespace => ({
    list: async () => Array.from(stored, ([name, { metadata }]) => ({ name, metadata })),
    get: async (name) => stored.get(name)?.value ?? '',
    async put(name, record) {
      if (name === failing) throw new Error('KV fails');
      stored.set(name, { value: JSON.stringify(record), metadata: record });
    },
  });

  async function run(...args: string[]): Promise<Result> {
    const output = { stdout: '', stderr: '' };
    const collect = (stream: 'stdout' | 'stderr', end: string) => (text: unknown) => {
      output[stream] += `${text}${end}`;
      return true;
    };
    const spies = [
      vi.spyOn(process.stdout, 'write').mockImplementation(collect('stdout', '')),
      vi.spyOn(process.stderr, 'write').mockImplementation(collect('stderr', '')),
      vi.spyOn(console, 'log').mockImplementation(collect('stdout', '\n')),
      vi.spyOn(console, 'error').mockImplementation(collect('stderr', '\n')),
    ];
    const program = keysProgram((environment) => inMemory(entries[environment]));
    await runProgram(program, args);
    for (const spy of spies) spy.mockRestore();
    const code = Number(process.exitCode ?? 0);
    process.exitCode = undefined;
    return { code, ...output };
  }

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
    /** Makes writes of this name fail. */
    failPut(name: string) {
      failing = name;
    },
  };
}
