/** A copy of the project in which commands run, so that they do not change the developer's own store. */
import { type ChildProcess, spawn } from 'node:child_process';
import { cp, mkdtemp, rm, symlink } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll } from 'vitest';
import { PROJECT_ROOT } from '../../ops/wrangler.ts';

export type Running = {
  process: ChildProcess;
  stdout: () => string;
  stderr: () => string;
  /** Resolves when standard output has the text. Rejects with all output when the command ends, or after two minutes. */
  printed: (text: string) => Promise<void>;
  exited: Promise<number | null>;
};

export type Result = { code: number | null; stdout: string; stderr: string };

const PARTS = 'client src openapi ops migrations public package.json wrangler.toml'.split(' ');

/** Copies the project for a test file. */
export function copyProject() {
  let folder: string;
  const running = new Set<Running>();

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'animal-store-'));
    for (const part of PARTS)
      await cp(join(PROJECT_ROOT, part), join(folder, part), { recursive: true });
    await symlink(join(PROJECT_ROOT, 'node_modules'), join(folder, 'node_modules'), 'junction');
  });
  afterEach(async () => {
    for (const { process } of running) process.kill('SIGTERM');
    await Promise.all(Array.from(running, ({ exited }) => exited));
  });
  afterAll(() => rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 }));

  /** Starts `node ops/<script> <args>` in a process group of its own, and ends it with the test. */
  function start(script: string, args: string[] = [], env: Record<string, string> = {}): Running {
    const child = spawn(process.execPath, [join(folder, 'ops', script), ...args], {
      cwd: folder,
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    });
    let stdout = '';
    let stderr = '';
    child.stdout.on('data', (chunk) => (stdout += chunk));
    child.stderr.on('data', (chunk) => (stderr += chunk));
    const exited = new Promise<number | null>((resolve) => child.on('close', resolve));
    const printed = (text: string) =>
      new Promise<void>((resolve, reject) => {
        const check = () => stdout.includes(text) && resolve();
        const fail = () => reject(new Error(`"${text}" was not printed: ${stdout}${stderr}`));
        check();
        child.stdout.on('data', check);
        exited.then(fail);
        setTimeout(fail, 120_000).unref();
      });
    const output = { stdout: () => stdout, stderr: () => stderr, printed };
    const command: Running = { process: child, ...output, exited };
    running.add(command);
    exited.then(() => running.delete(command));
    return command;
  }

  /** Runs it, and resolves when it has exited. */
  async function run(...command: Parameters<typeof start>): Promise<Result> {
    const { exited, stdout, stderr } = start(...command);
    return { code: await exited, stdout: stdout(), stderr: stderr() };
  }
  return { start, run, path: () => folder };
}

/** A port that nothing listens on. */
export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, 'localhost', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (typeof address !== 'object' || !address) throw new Error('no port');
  return address.port;
}
