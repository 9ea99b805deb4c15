/**
 * Processes of the project, and copies of it, in which they do not change the developer's own store.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, readdirSync, statSync, symlinkSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { PROJECT_ROOT } from '../../ops/command/project-root.ts';

/** A new folder, with a letter that the locale C does not have, and how to delete it. */
export async function createFolder() {
  const folder = await mkdtemp(join(tmpdir(), 'animal-store-é-'));
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
 * Starts a command line in a process group of its own, and ends all of the group with the test.
 * Needs sh.
 */
export function startProcess(line: string, cwd: string, env = {}) {
  const child = spawn('sh', ['-c', `exec ${line}`], {
    cwd,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  const output = { stdout: '', stderr: '' };
  child.stdout.on('data', (chunk) => (output.stdout += chunk));
  child.stderr.on('data', (chunk) => (output.stderr += chunk));
  /** Resolves when its output has ended. */
  const exited = once(child, 'close').then(([code]) => ({ code, ...output }));
  /** Ends it and what it has started, also if itself has ended. */
  async function end() {
    try {
      process.kill(-Number(child.pid), 'SIGKILL');
    } catch (error) {
      if (Object(error).code !== 'ESRCH') throw error;
    }
    await exited;
  }
  onTestFinished(end);
  return {
    process: child,
    output,
    exited,
    end,
  };
}

/** Links the packages of this project into another folder. */
export function linkPackages(folder: string): void {
  // Each one: a link to the whole folder would let npm write its list of packages into this project.
  mkdirSync(join(folder, 'node_modules'));
  for (const name of readdirSync(join(PROJECT_ROOT, 'node_modules'))) {
    const path = join(PROJECT_ROOT, 'node_modules', name);
    const link = join(folder, 'node_modules', name);
    // In a copy, a package is a link itself.
    if (statSync(path).isDirectory()) symlinkSync(path, link, 'junction');
    else cpSync(path, link);
  }
}
