/** A fresh clone of the project, in which commands reach a fake of Cloudflare. Needs git and sh. */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { WRANGLER_ENV } from '../../ops/command/wrangler.ts';
import { createRepository } from './copy.ts';
import type { Cloudflare } from './fake-cloudflare.ts';
import { readPlaceholders } from './placeholders.ts';
import { copyFiles, createFolder, startProcess } from './project.ts';

export type Clone = Awaited<ReturnType<typeof cloneProject>>;

/** Copies the project's files as the first commit of a new repository, with the placeholders of wrangler.toml. */
export async function cloneProject(account: Cloudflare) {
  const { folder, remove } = await createFolder();
  const path = (file: string) => join(folder, file);
  const env = { ...account.env, ...WRANGLER_ENV };

  /** Runs a command line in the clone. */
  function start(line: string, settings: Record<string, string> = {}) {
    return startProcess(['-ec', line], folder, { ...env, ...settings }, 'sh').exited;
  }

  /** As `start`. It must succeed. Returns what it prints. */
  async function run(...command: Parameters<typeof start>) {
    const { code, stdout, stderr } = await start(...command);
    expect(code, stdout + stderr).toBe(0);
    return stdout;
  }

  function editConfig(from: string | RegExp, to: string) {
    const text = readFileSync(path('wrangler.toml'), 'utf8');
    expect(text).toMatch(from);
    writeFileSync(path('wrangler.toml'), text.replaceAll(from, to));
  }

  copyFiles(folder);
  writeFileSync(path('wrangler.toml'), readPlaceholders());
  execFileSync(process.execPath, ['ops/openapi.ts'], { cwd: folder });
  createRepository(folder);

  return { path, start, run, editConfig, remove };
}
