/**
 * Processes of the project, and a copy of it in which they do not change the developer's own store.
 */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, readdirSync, statSync, symlinkSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, expect, onTestFinished } from 'vitest';
import { PROJECT_ROOT } from '../../ops/command/project-root.ts';

export type Result = { code: number | null; stdout: string; stderr: string };

/** A new folder, and how to delete it. */
export async function createFolder() {
  const folder = await mkdtemp(join(tmpdir(), 'animal-store-'));
  const remove = () => rm(folder, { recursive: true, maxRetries: 5, retryDelay: 200 });
  return { folder, remove };
}

/** A folder that is deleted after the test. */
export async function temporaryFolder(): Promise<string> {
  const { folder, remove } = await createFolder();
  onTestFinished(remove);
  return folder;
}

/**
 * Starts a program, by default Node.js, in a process group of its own, and ends all of the group
 * with the test.
 */
export function startProcess(
  args: string[],
  cwd: string,
  env: Record<string, string> = {},
  program = process.execPath,
) {
  const child = spawn(program, args, {
    cwd,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  const output = { stdout: '', stderr: '' };
  child.stdout.on('data', (chunk) => (output.stdout += chunk));
  child.stderr.on('data', (chunk) => (output.stderr += chunk));
  /** Resolves when its output has ended. */
  const exited = once(child, 'close').then(([code]): Result => ({ code, ...output }));
  onTestFinished(async () => {
    endGroup(child.pid);
    await exited;
  });
  return {
    process: child,
    output,
    exited,
    printed: (text: string) =>
      expect.poll(() => output.stdout, { timeout: 120_000 }).toContain(text),
  };
}

/** Ends a process and what it has started, also if itself has ended. Windows has no groups. */
export function endGroup(leader: number | undefined): void {
  if (leader === undefined) return;
  try {
    process.kill(process.platform === 'win32' ? leader : -leader, 'SIGKILL');
  } catch (error) {
    if (Object(error).code !== 'ESRCH') throw error;
  }
}

/**
 * Copies the files that git does not ignore, also those that are not committed, and links the
 * packages of this project.
 */
export function copyFiles(folder: string): void {
  const list = ['ls-files', '-z', '--cached', '--others', '--exclude-standard'];
  const files = execFileSync('git', list, { cwd: PROJECT_ROOT, encoding: 'utf8' }).split('\0');
  // The list ends with an empty name, and may have files that are deleted, and worktrees (`a/`).
  for (const file of files.filter(
    (name) => /[^/]$/.test(name) && existsSync(join(PROJECT_ROOT, name)),
  ))
    cpSync(join(PROJECT_ROOT, file), join(folder, file));
  // Links each package: a link to the whole folder would let npm write its list of packages into
  // this project.
  mkdirSync(join(folder, 'node_modules'));
  for (const name of readdirSync(join(PROJECT_ROOT, 'node_modules'))) {
    const path = join(PROJECT_ROOT, 'node_modules', name);
    const link = join(folder, 'node_modules', name);
    // In a copy, a package is a link itself.
    if (statSync(path).isDirectory()) symlinkSync(path, link, 'junction');
    else cpSync(path, link);
  }
}

/** Copies the project for a test file. */
export function copyProject() {
  let folder: string;
  beforeAll(async () => {
    const created = await createFolder();
    // With a letter that the locale C does not have.
    folder = join(created.folder, 'é');
    copyFiles(folder);
    return created.remove;
  });

  /** Starts `node ops/<script> <args>`. */
  const start = (script: string, args: string[] = [], env?: Record<string, string>) =>
    startProcess([join(folder, 'ops', script), ...args], folder, env);

  /** Runs it, and resolves when it has exited. */
  const run = (...command: Parameters<typeof start>) => start(...command).exited;

  /** Starts `wrangler dev` at a port. It prints `Ready on` when it answers there. */
  const serve = (port: number) => {
    const wrangler = join(folder, 'node_modules/wrangler/bin/wrangler.js');
    return startProcess([wrangler, 'dev', '--port', `${port}`], folder);
  };
  return { start, run, serve, path: () => folder };
}

/** A port that nothing listens on. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, 'localhost');
  await once(server, 'listening');
  const { port } = Object(server.address());
  server.close();
  return port;
}
