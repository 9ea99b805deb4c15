/** A clone of the project whose commands reach a fake of Cloudflare. Needs git and sh. */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, beforeEach, expect } from 'vitest';
import { generateKey } from '../../ops/keys/generate-key.ts';
import { ACCOUNT, type Cloudflare, startCloudflare } from './fake-cloudflare.ts';
import { copyFiles, createFolder, startProcess } from './project.ts';

export const SMOKE_KEYS = {
  staging: generateKey('staging'),
  production: generateKey('production'),
};

/** Clones the project, set up or not. */
export async function cloneProject(isSetUp: boolean) {
  const { folder, remove } = await createFolder();
  copyFiles(folder);
  const text = readPlaceholders();
  writeFileSync(join(folder, 'wrangler.toml'), isSetUp ? setUpText(text) : text);
  writeFileSync(join(folder, 'migrations/9999_new.sql'), 'CREATE TABLE a (b INTEGER) STRICT;');
  const git = (...args: string[]) => execFileSync('git', args, { cwd: folder, encoding: 'utf8' });
  git('init', '--quiet', '--template=');
  git('add', '--all');
  git('commit', '--quiet', '--message', 'Begin');
  return { folder, git, first: git('rev-parse', 'HEAD').trim(), remove };
}

const HOSTS: Record<string, string> = {
  staging: 'staging.api.animal-store.example',
  production: 'api.animal-store.example',
};

/** wrangler.toml as it is before the first set-up, also in a store that is set up. */
function readPlaceholders() {
  const text = readFileSync('wrangler.toml', 'utf8');
  return text
    .split(/^(?=\[)/m)
    .map(resetTable)
    .join('');
}

/** Puts the placeholders back into a table, if it is of an environment. */
function resetTable(table: string) {
  const [, environment = ''] = /^\[+env\.(\w+)/.exec(table) ?? [];
  const host = HOSTS[environment];
  if (!host) return table;
  return table
    .replace(/^account_id = .*/m, `account_id = "${environment}-account-id"`)
    .replace(/^database_id = .*/m, `database_id = "${environment}-database-id"`)
    .replace(/^id = .*/m, `id = "${environment}-api-keys-id"`)
    .replace(
      /^(routes|workers_dev) = .*/m,
      `routes = [{ pattern = "${host}", custom_domain = true }]`,
    )
    .replace(/^BASE_URL = .*/m, `BASE_URL = "https://${host}/v1"`);
}

/** wrangler.toml with an account, ids and hosts, as the fake seeds them. */
function setUpText(placeholders: string) {
  return placeholders
    .replaceAll(/\w+-account-id/g, ACCOUNT)
    .replaceAll('-id"', '-1"')
    .replaceAll('.example', '.test');
}

/** A fake and a clone for each test. */
export function startClone(isSetUp: boolean) {
  let cloudflare: Cloudflare;
  let clone: Awaited<ReturnType<typeof cloneProject>>;
  beforeAll(async () => {
    clone = await cloneProject(isSetUp);
    return clone.remove;
  });
  beforeEach(async () => {
    cloudflare = await startCloudflare();
    if (isSetUp) {
      cloudflare.seed('staging', clone.first);
      cloudflare.seed('production', 'set-up');
    }
    clone.git('checkout', '--quiet', '--force', clone.first);
    clone.git('clean', '-fdxq', 'src', 'public', 'migrations');
    return () => {
      cloudflare.close();
      expect(cloudflare.problems).toEqual([]);
    };
  });

  function environmentOf(line: string) {
    // A secret often ends in a line break.
    const SMOKE_API_KEY = `${SMOKE_KEYS[line.includes('staging') ? 'staging' : 'production']}\n`;
    return { ...cloudflare.env, SMOKE_API_KEY };
  }

  /** Starts a command line. */
  function start(line: string, variables = {}) {
    const env = { ...environmentOf(line), ...variables };
    return startProcess(['-c', `exec ${line}`], clone.folder, env, 'sh');
  }

  /**
   * Runs a command line on a terminal, and types an answer to each question. Some shells that do
   * not `exec` it end with 130 after Ctrl-C.
   */
  async function typeIn(line: string, ...answers: string[]) {
    const terminal = spawn('script', ['-qec', `exec ${line}`, '/dev/null'], {
      cwd: clone.folder,
      // wrangler asks all the same.
      env: { ...process.env, ...environmentOf(line), CI: 'true' },
    });
    let output = '';
    terminal.stdout.on('data', (chunk) => {
      output += chunk;
      if (/\[y\/N\]|\(Y\/n\)/.test(`${chunk}`))
        setTimeout(() => terminal.stdin.write(answers.shift() ?? ''), 300);
    });
    const [code] = await once(terminal, 'close');
    return { code, output };
  }

  /** Runs a command line that must end with this code. Returns what it prints. */
  async function run(line: string, expected = 0, variables = {}) {
    const { code, stdout, stderr } = await start(line, variables).exited;
    expect(code, stdout + stderr).toBe(expected);
    return stdout + stderr;
  }
  return { start, run, typeIn, cloudflare: () => cloudflare, clone: () => clone };
}
