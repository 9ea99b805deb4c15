/** A fresh clone of the project, in which commands reach a fake of Cloudflare. Needs git and sh. */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect } from 'vitest';
import { PROJECT_ROOT } from '../../ops/command/project-root.ts';
import { WRANGLER_ENV } from '../../ops/command/wrangler.ts';
import { linkPackages } from './copy.ts';
import type { Cloudflare } from './fake-cloudflare.ts';
import { readPlaceholders } from './placeholders.ts';
import { type Result, startProcess } from './project.ts';

const IDENTITY = {
  GIT_AUTHOR_NAME: 'Test',
  GIT_AUTHOR_EMAIL: 'test@animals.test',
  GIT_COMMITTER_NAME: 'Test',
  GIT_COMMITTER_EMAIL: 'test@animals.test',
};

export type Clone = Awaited<ReturnType<typeof cloneProject>>;

/** Copies the project's files as the first commit of a new repository, with the placeholders of wrangler.toml. */
export async function cloneProject(account: Cloudflare) {
  const folder = await mkdtemp(join(tmpdir(), 'animal-store-'));
  const path = (file: string) => join(folder, file);
  const env = { ...account.env, ...WRANGLER_ENV, ...IDENTITY };

  /** Runs a command line in the clone. */
  function start(line: string, settings: Record<string, string> = {}): Promise<Result> {
    return startProcess(['-ec', line], folder, { ...env, ...settings }, 'sh').exited;
  }

  /** As `start`. It must succeed. Returns what it prints. */
  async function run(...command: Parameters<typeof start>): Promise<string> {
    const { code, stdout, stderr } = await start(...command);
    expect(code, stdout + stderr).toBe(0);
    return stdout;
  }

  function editConfig(from: string | RegExp, to: string): void {
    const text = readFileSync(path('wrangler.toml'), 'utf8');
    expect(text).toMatch(from);
    writeFileSync(path('wrangler.toml'), text.replaceAll(from, to));
  }

  const list = ['ls-files', '-z', '--cached', '--others', '--exclude-standard'];
  const files = execFileSync('git', list, { cwd: PROJECT_ROOT, encoding: 'utf8' }).split('\0');
  for (const file of files.filter(Boolean)) {
    mkdirSync(dirname(path(file)), { recursive: true });
    cpSync(join(PROJECT_ROOT, file), path(file));
  }
  linkPackages(folder);
  writeFileSync(path('wrangler.toml'), readPlaceholders());
  const ignore = 'echo node_modules >> .git/info/exclude';
  const commit = 'git add --all; git commit -qm Begin';
  const line = `npm run --silent openapi; git init -q; ${ignore}; ${commit}`;
  execFileSync('sh', ['-ec', line], { cwd: folder, env: { ...process.env, ...env } });

  const remove = () => rm(folder, { recursive: true, maxRetries: 5, retryDelay: 200 });
  return { path, start, run, editConfig, remove };
}
