/** Runs the commands of `npm run keys` in this process, on KV namespaces in memory. */
import { expect, vi } from 'vitest';
import { runCommand } from '../../ops/command-line.ts';
import { keysProgram } from '../../ops/keys/commands.ts';
import type { Environment, Namespaces } from '../../ops/keys/namespace.ts';
import type { Result } from './project.ts';

export type NewKey = {
  id: string;
  key: string;
  label: string;
  scopes: string[];
  createdAt: string;
  expiresAt: string | null;
};
export type Listed = Omit<NewKey, 'key'> & { state: string };

type Entries = Map<string, { value: string; metadata?: unknown }>;

export function keysCommand() {
  const namespaces: Record<Environment, Entries> = {
    local: new Map(),
    staging: new Map(),
    production: new Map(),
  };
  let failing: string | undefined;
  const inMemory: Namespaces = {
    list: async (environment, prefix) =>
      Array.from(namespaces[environment], ([name, { metadata }]) => ({ name, metadata })).filter(
        ({ name }) => name.startsWith(prefix),
      ),
    get: async (environment, name) => namespaces[environment].get(name)?.value ?? '',
    async put(environment, name, json) {
      if (name === failing) throw new Error('KV fails');
      namespaces[environment].set(name, { value: json, metadata: JSON.parse(json) });
    },
  };

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
    const code = await runCommand(keysProgram(inMemory), args);
    for (const spy of spies) spy.mockRestore();
    return { code, ...output };
  }

  /** The output of a command that must succeed. */
  async function keys(...args: string[]): Promise<string> {
    const { code, stdout, stderr } = await run(...args);
    expect(code, stderr).toBe(0);
    return stdout;
  }

  async function json<T>(...args: string[]): Promise<T> {
    return JSON.parse(await keys(...args, '--json'));
  }

  return {
    namespaces,
    run,
    keys,
    json,
    /** Makes writes of this name fail. */
    failPut(name: string) {
      failing = name;
    },
  };
}
