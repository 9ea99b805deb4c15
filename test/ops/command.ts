/** Runs a command of ops in this process, and collects what it prints. */
import { Console } from 'node:console';
import { PassThrough } from 'node:stream';
import type { Command } from 'commander';
import { onTestFinished, vi } from 'vitest';
import { run } from '../../ops/command/command-line.ts';

/**
 * Imports a new instance of a script, which imports `mocks` instead of its modules, until the test
 * ends.
 */
export async function importWith(script: string, mocks: Record<string, object>) {
  // Forgets all modules, because one that was imported before keeps its real imports. A query such
  // as ?1 would be slower: Vite would transform every module again.
  vi.resetModules();
  for (const [name, module] of Object.entries(mocks)) vi.doMock(name, () => module);
  onTestFinished(() => {
    for (const name of Object.keys(mocks)) vi.doUnmock(name);
    // Otherwise, the next test file could get a module that has imported a mock.
    vi.resetModules();
  });
  // The comment keeps Vite from a warning at the start of every run of the tests.
  return import(/* @vite-ignore */ `../../ops/${script}`);
}

/**
 * Runs a new instance of a script, which imports `mocks` instead of its modules. `typed`: what is
 * typed on a terminal; without it, standard input is empty and no terminal.
 */
export async function runInProcess(
  script: string,
  mocks: Record<string, object>,
  args: string[],
  typed = '',
) {
  const { program }: { program: Command } = await importWith(script, mocks);
  const stdin = Object.assign(new PassThrough(), { isTTY: typed !== '' });
  if (typed) stdin.write(typed);
  else stdin.end();
  const output = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const)
    vi.spyOn(process[name], 'write').mockImplementation((text) => {
      output[name] += text;
      return true;
    });
  vi.spyOn(process, 'stdin', 'get').mockReturnValue(stdin as never);
  vi.stubGlobal('console', new Console(process.stdout, process.stderr));
  await run(program, args);
  const code = Number(process.exitCode ?? 0);
  process.exitCode = undefined;
  if (typed && !stdin.isPaused()) throw new Error('the command reads on, and would not end');
  return { code, ...output };
}
