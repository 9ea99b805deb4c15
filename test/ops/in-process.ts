/** Runs a command of ops in this process, and collects what it prints. */
import { randomUUID } from 'node:crypto';
import { PassThrough } from 'node:stream';
import type { Command } from 'commander';
import { vi } from 'vitest';
import { run } from '../../ops/command-line.ts';
import type { Result } from './project.ts';

/**
 * Runs a new instance of a script, which imports `mocks` instead of its modules. `typed`: what is typed on a terminal;
 * without it, standard input is empty and no terminal.
 */
export async function runInProcess(
  script: string,
  mocks: Record<string, object>,
  args: string[],
  typed = '',
): Promise<Result> {
  for (const [name, module] of Object.entries(mocks)) vi.doMock(name, () => module);
  const path = `../../ops/${script}?${randomUUID()}`;
  const { program }: { program: Command } = await import(path);
  for (const name of Object.keys(mocks)) vi.doUnmock(name);

  const { stdin } = process;
  const input = Object.assign(new PassThrough(), { isTTY: typed !== '' });
  input.end(typed);
  Object.defineProperty(process, 'stdin', { value: input });
  const output = { stdout: '', stderr: '' };
  const collect =
    (stream: 'stdout' | 'stderr', end: string) =>
    (...texts: unknown[]) => {
      output[stream] += texts.join(' ') + end;
      return true;
    };
  const spies = [
    vi.spyOn(process.stdout, 'write').mockImplementation(collect('stdout', '')),
    vi.spyOn(process.stderr, 'write').mockImplementation(collect('stderr', '')),
    vi.spyOn(console, 'log').mockImplementation(collect('stdout', '\n')),
    vi.spyOn(console, 'error').mockImplementation(collect('stderr', '\n')),
  ];
  await run(program, args);
  for (const spy of spies) spy.mockRestore();
  Object.defineProperty(process, 'stdin', { value: stdin });
  const code = Number(process.exitCode ?? 0);
  process.exitCode = undefined;
  return { code, ...output };
}
