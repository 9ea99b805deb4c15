/** A clone of the project whose commands reach a fake of Cloudflare. Needs git and sh. */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeEach, expect } from 'vitest';
import { PROJECT_ROOT } from '../../ops/command/project-root.ts';
import { generateKey } from '../../ops/keys/generate-key.ts';
import { ACCOUNT, type Cloudflare, startCloudflare } from './fake-cloudflare.ts';
import { createFolder, linkPackages, startProcess } from './project.ts';

export const SMOKE_KEYS = {
  staging: generateKey('staging'),
  production: generateKey('production'),
};

/** Clones the project, set up or not. */
export async function cloneProject(isSetUp: boolean) {
  const { folder, remove } = await createFolder();
  const git = (...args: string[]) =>
    execFileSync('git', args, { cwd: folder, encoding: 'utf8', stdio: 'pipe' });
  git('init', '--quiet', '--template=');
  // Also the files that are not committed, and no ignored ones.
  git('--git-dir=.git', '--work-tree', PROJECT_ROOT, 'add', '--all');
  git('checkout-index', '--all');
  linkPackages(folder);
  const text = readPlaceholders();
  writeFileSync(join(folder, 'wrangler.toml'), isSetUp ? setUpText(text) : text);
  writeFileSync(join(folder, 'migrations/9999_new.sql'), 'CREATE TABLE a (b INTEGER) STRICT;');
  git('add', '--all');
  git('commit', '--quiet', '--message', 'Begin');
  return { folder, git, first: git('rev-parse', 'HEAD').trim(), remove };
}

/** What a set-up replaces in the part of an environment. */
const PLACEHOLDERS: Record<string, string> = {
  account_id: 'account_id = "ENV-account-id"',
  database_id: 'database_id = "ENV-database-id"',
  id: 'id = "ENV-api-keys-id"',
  routes: 'routes = [{ pattern = "HOST", custom_domain = true }]',
  BASE_URL: 'BASE_URL = "https://HOST/v1"',
};

/** wrangler.toml as it is before the first set-up, also in a store that is set up. */
function readPlaceholders() {
  const tables = readFileSync('wrangler.toml', 'utf8').split(/^(?=\[)/m);
  return tables.map(resetTable).join('');
}

/** Puts the placeholders back into a table, if it is of an environment. */
function resetTable(table: string) {
  const [, environment] = /^\[+env\.(\w+)/.exec(table) ?? [];
  if (!environment) return table;
  const host = `${environment === 'staging' ? 'staging.' : ''}api.animal-store.example`;
  return table.replaceAll(/^(\w+) = .*/gm, (line, field) => {
    const placeholder = PLACEHOLDERS[field.replace('workers_dev', 'routes')];
    return placeholder?.replace('ENV', environment).replace('HOST', host) ?? line;
  });
}

/** wrangler.toml with an account, ids and hosts, as the fake seeds them. */
function setUpText(placeholders: string) {
  return placeholders
    .replaceAll(/\w+-account-id/g, ACCOUNT)
    .replaceAll('-id"', '-1"')
    .replaceAll('.example', '.test');
}

/** A clone for a test file, and a fake for each test. */
export async function startClone(isSetUp: boolean) {
  const { folder, git, first, remove } = await cloneProject(isSetUp);
  afterAll(remove);
  const cloudflare = {} as Cloudflare;
  beforeEach(async () => {
    Object.assign(cloudflare, await startCloudflare());
    if (isSetUp) {
      cloudflare.seed('staging', first);
      cloudflare.seed('production', 'set-up');
    }
    git('checkout', '--quiet', '--force', first);
    git('clean', '-fdxq', 'src', 'public', 'migrations');
    return () => {
      cloudflare.close();
      expect(cloudflare.problems).toEqual([]);
    };
  });

  /** Starts a command line. */
  function start(line: string, variables = {}) {
    // A secret often ends in a line break.
    const SMOKE_API_KEY = `${SMOKE_KEYS[line.includes('staging') ? 'staging' : 'production']}\n`;
    return startProcess(line, folder, { ...cloudflare.env, SMOKE_API_KEY, ...variables });
  }

  /** Runs a command line that must end with this code. Returns what it prints. */
  async function run(line: string, expected = 0, variables = {}) {
    const { code, stdout, stderr } = await start(line, variables).exited;
    expect(code, stdout + stderr).toBe(expected);
    return stdout + stderr;
  }
  const path = (file: string) => join(folder, file);
  return { start, run, path, cloudflare, git, first };
}
