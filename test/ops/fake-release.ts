/** A fake of all that a release calls in its process: wrangler, git, the smoke test, pauses, signals and the terminal. */
import { hash } from 'node:crypto';
import type { Command } from 'commander';
import { expect, vi } from 'vitest';
import * as commandLine from '../../ops/command-line.ts';
import type { Store } from '../../ops/release/smoke.ts';
import { importWith, runProgram } from './in-process.ts';
import type { Result } from './project.ts';

export const OLD = 'old';
export const NEW = 'new';
export const OTHER = 'other';
/** The ids of versions, which tests and calls name by the words above. */
const IDS = Object.fromEntries(
  [NEW, OLD, OTHER].map((name, i) => [name, `00000000-0000-4000-8000-00000000000${i}`]),
);
const withIds = (text: string) =>
  text.replaceAll(/\b(old|new|other)\b/g, (name) => IDS[name] ?? '');
const withNames = (text: string) =>
  Object.entries(IDS).reduce((named, [name, id]) => named.replaceAll(id, name), text);
export const HEAD = 'c'.repeat(40);
const SCRIPT = 'a script';
const GIT = [
  'status --porcelain --untracked-files=all',
  'ls-files --others --ignored --exclude-standard src public migrations',
  'rev-parse HEAD',
  `merge-base --is-ancestor ${HEAD} ${HEAD}`,
];

type Name = 'staging' | 'production';
type Annotations = { 'workers/tag'?: string; 'workers/message'?: string };
export type Fake = ReturnType<typeof fakeRelease>;

function environment(name: Name) {
  const annotations: Annotations = {
    'workers/tag': HEAD,
    'workers/message': hash('sha256', SCRIPT),
  };
  return {
    config: {
      name: `store-${name}`,
      vars: { BASE_URL: `https://${name}.test/v1` },
      routes: [{ pattern: `${name}.test`, custom_domain: true }],
      d1_databases: [{ database_id: `${name}-database` }],
      kv_namespaces: [{ id: `${name}-keys` }],
    },
    bindings: {
      DB: `${name}-database`,
      API_KEYS: `${name}-keys`,
      BASE_URL: `https://${name}.test/v1`,
    },
    annotations,
    /** Such as `x@10% y@90%`; the oldest first. */
    deployments: [{ shares: `${OLD}@100%`, message: 'an earlier run', author: 'anna' }],
    /** The versions with the secret that stops writes. */
    versionsWithStoppedWrites: [] as (string | undefined)[],
    /** What wrangler prints of the migrations. */
    migrations: '│ 0004_a.sql │ ✅ │',
  };
}

/** What the release calls instead of the real functions: those of the newest fake. */
let current: Record<string, (...args: never[]) => unknown> = {};
/** The release, which is imported once for all tests. */
let imported: Promise<Command> | undefined;

async function importRelease(): Promise<Command> {
  const late =
    (name: string) =>
    (...args: never[]) =>
      current[name]?.(...args);
  const mocks: Record<string, object> = {
    wrangler: { unstable_readConfig: late('readConfig') },
    '../../ops/wrangler.ts': { PROJECT_ROOT: '/project', runWranglerIn: late('runWranglerIn') },
    'node:fs/promises': { readFile: late('readFile'), rm: late('rm') },
    '../../ops/release/tail.ts': { watchErrors: late('watchErrors') },
    '../../ops/release/smoke.ts': { testReads: late('testReads'), smokeTest: late('smokeTest') },
    '../../ops/command-line.ts': {
      ...commandLine,
      confirm: late('confirm'),
      onStop: late('onStop'),
    },
    'node:timers/promises': { setTimeout: late('pause') },
    'node:child_process': { execFile: late('execFile') },
  };
  const { program } = await importWith('release.ts', mocks);
  return program;
}

/** A world in which staging and production serve HEAD as OLD, and a release uploads NEW. */
export function fakeRelease() {
  let script = SCRIPT;
  const environments = { staging: environment('staging'), production: environment('production') };
  const git = { status: '', 'ls-files': '', 'rev-parse': HEAD, 'merge-base': '' };
  /** All commands, tests and pauses, in order, such as `production triggers deploy`. */
  const calls: string[] = [];
  const hooks: { point: RegExp; effect: () => unknown; times: number }[] = [];
  /** Calls that succeed without an effect. */
  const ignored: RegExp[] = [];
  /** The folders of builds. */
  const folders = new Set<string>();
  let interrupt = () => {};
  /** What the watch of the log aborts, while there is one. */
  let watch: AbortController | undefined;

  /** Runs a hook at points such as `before production triggers deploy`, `pause 15000` or `test production new`. */
  const on = (point: RegExp, effect: () => unknown, times = 1) =>
    void hooks.push({ point, effect, times });
  function fail(point: RegExp, times = 1): void {
    const effect = () => {
      throw new Error(`failed ${point.source}`);
    };
    on(point, effect, times);
  }

  function pass(point: string): void {
    for (const hook of hooks) {
      if (hook.times === 0 || !hook.point.test(point)) continue;
      hook.times -= 1;
      hook.effect();
    }
  }

  function deploy(name: Name, shares: string, message = 'by hand', author = 'berta'): void {
    environments[name].deployments.push({ shares, message, author });
  }

  /** What wrangler does, and prints. */
  function carryOut(name: Name, args: string[]): string {
    const { deployments, bindings, annotations, versionsWithStoppedWrites, migrations } =
      environments[name];
    if (args.includes('time-travel')) return '{ "bookmark": "a-bookmark" }';
    if (args.includes('migrations')) return migrations;
    const shares = args.filter((arg) => arg.includes('@')).join(' ');
    const [command] = args.join(' ').match(/^(versions|deployments|rollback)( \w+)?/) ?? [];
    if (args[0] === 'rollback') deploy(name, `${args[1]}@100%`, args.at(-1), 'me');
    if (command === 'versions deploy') deploy(name, shares, args.at(-1), 'me');
    if (command === 'versions upload') return `Worker Version ID: ${NEW}\n`;
    if (command === 'versions view')
      return JSON.stringify({
        id: args[2],
        annotations,
        resources: {
          bindings: [
            { name: 'DB', id: bindings.DB },
            { name: 'API_KEYS', namespace_id: bindings.API_KEYS },
            { name: 'BASE_URL', text: bindings.BASE_URL },
            ...(versionsWithStoppedWrites.includes(args[2]) ? [{ name: 'WRITES_STOPPED' }] : []),
          ],
        },
      });
    if (command !== 'deployments list') return '';
    const list = deployments.map((each, i) => ({
      id: String(i),
      created_on: `time ${i}`,
      author_email: each.author,
      annotations: { 'workers/message': each.message },
      // Not in the order of the command.
      versions: each.shares
        .split(' ')
        .reverse()
        .map((share) => {
          const [version_id, percentage] = share.split('@');
          return { version_id, percentage: Number.parseInt(percentage ?? '', 10) };
        }),
    }));
    return JSON.stringify(list.slice(-10));
  }

  async function runWranglerIn(name: Name, ids: string[], options: object): Promise<string> {
    const args = ids.map(withNames);
    expect(options).toEqual({ detached: true, timeout: 300_000 });
    if (args.includes('--dry-run')) return build(name, args);
    if (/ (view|list|info) /.test(args.join(' '))) expect(args.at(-1)).toBe('--json');
    const call = [name, ...args].join(' ');
    pass(`before ${call}`);
    calls.push(call);
    const output = ignored.some((each) => each.test(call)) ? '' : carryOut(name, args);
    pass(`after ${call}`);
    return withIds(output);
  }

  function readConfig({ config, env }: { config: string; env: Name }) {
    expect(config).toBe('/project/wrangler.toml');
    return environments[env].config;
  }

  async function build(name: Name, args: string[]): Promise<string> {
    const folder = expect.stringMatching(/^\/project\/dist\/[\w-]{36}$/);
    expect([name, ...args]).toEqual(['staging', 'deploy', '--dry-run', '--outdir', folder]);
    folders.add(args.at(-1) ?? '');
    pass('build');
    return '';
  }

  type Tested = Store & { environment: Name; signal: AbortSignal };
  const test =
    (kind: string) =>
    async ({ environment, version, override, signal, baseUrl, apiKey }: Tested) => {
      expect([baseUrl, apiKey]).toEqual([environments[environment].config.vars.BASE_URL, 'key']);
      const how = override ? ` by override ${override}` : '';
      calls.push(withNames(`${kind} ${environment} ${version}${how}`));
      pass(calls.at(-1) ?? '');
      signal.throwIfAborted();
    };

  async function pause(ms: number, _: unknown, options?: { signal: AbortSignal }): Promise<void> {
    // A caller that does not await the pause continues here.
    await Promise.resolve();
    calls.push(`pause ${ms}`);
    pass(`pause ${ms}`);
    try {
      if (watch) pass('log');
    } catch (error) {
      watch?.abort(error);
    }
    // As the real one: without the reason of the abort.
    if (options?.signal.aborted) throw new Error('The operation was aborted');
  }

  type Callback = (error: Error | null, output?: { stdout: string }) => void;
  type Command = [keyof typeof git, ...string[]];
  function execFile(_: string, [name, ...args]: Command, __: unknown, done: Callback): void {
    expect(GIT).toContain([name, ...args].join(' '));
    const [, code] = /^exit (\d+)$/.exec(git[name]) ?? [];
    if (code) done(Object.assign(new Error(name), { code: Number(code) }));
    else done(null, { stdout: git[name] });
  }

  /** Watches the log of a version, as ops/release/tail.ts does. A hook at `log` throws when there was a 500. */
  async function watchErrors(name: Name, version: string, stop: AbortController) {
    calls.push(withNames(`watch ${name} ${version}`));
    pass(`watch ${name}`);
    watch = stop;
    return () => {
      calls.push('watch ends');
      watch = undefined;
    };
  }

  current = {
    readConfig,
    runWranglerIn,
    readFile: async () => script,
    rm: async (folder: string) => void folders.delete(folder),
    watchErrors,
    testReads: test('reads'),
    smokeTest: test('all'),
    confirm(...args: Parameters<typeof commandLine.confirm>) {
      expect(args[3]).toBeInstanceOf(AbortSignal);
      pass('confirm');
      return commandLine.confirm(...args);
    },
    onStop(stop: () => void) {
      interrupt = stop;
    },
    pause,
    execFile,
  };

  /** Runs `npm run release -- <args>`. `answer`: what is typed, on a terminal. */
  async function release(args: string[], { answer = '', apiKey = 'key' } = {}): Promise<Result> {
    imported ??= importRelease();
    const program = await imported;
    vi.stubEnv('SMOKE_API_KEY', apiKey);
    const line = args.map((arg) => IDS[arg] ?? arg);
    const { code, stdout, stderr } = await runProgram(program, line, answer);
    vi.unstubAllEnvs();
    return { code, stdout: withNames(stdout), stderr: withNames(stderr) };
  }

  return {
    environments,
    git,
    calls,
    folders,
    ignored,
    on,
    fail,
    deploy,
    release,
    interrupt: () => interrupt(),
    /** Changes what the next build contains. */
    rebuild(bytes: string) {
      script = bytes;
    },
    served: (name: Name) => environments[name].deployments.at(-1)?.shares,
    /** The calls that change something. */
    changes: () =>
      calls.filter((call) => !/ (list|view|info) |^(reads|all|pause|watch)/.test(call)),
  };
}
