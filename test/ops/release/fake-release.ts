/** A fake of all that a release calls in its process: wrangler, git, the smoke test, pauses, signals and the terminal. */
import { hash } from 'node:crypto';
import type { Command } from 'commander';
import { expect, vi } from 'vitest';
import * as commandLine from '../../../ops/command/command-line.ts';
import type { Store } from '../../../ops/release/smoke.ts';
import { importWith, runProgram } from '../../support/command.ts';
import type { Result } from '../../support/project.ts';

/** The ids of versions: the one that is served, the one that a release uploads, and one of another operator. */
export const OLD = 'b'.repeat(36);
export const NEW = 'a'.repeat(36);
export const OTHER = 'c'.repeat(36);
export const HEAD = 'c'.repeat(40);
const SCRIPT = 'a script';

type Deployment = { shares: string; message?: string; author: string };
type Name = 'staging' | 'production';
type Annotations = { 'workers/tag'?: string | undefined; 'workers/message'?: string | undefined };
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
      preview_urls: false,
      // Wrangler keeps the order of wrangler.toml, in which others may come first.
      d1_databases: [
        { binding: 'LOG', database_id: 'shared-log' },
        { binding: 'DB', database_id: `${name}-database` },
      ],
      kv_namespaces: [
        { binding: 'CACHE', id: 'shared-cache' },
        { binding: 'API_KEYS', id: `${name}-keys` },
      ],
    },
    /** Of each version, as Cloudflare shows them. */
    bindings: {
      DB: { id: `${name}-database` },
      API_KEYS: { namespace_id: `${name}-keys` },
      BASE_URL: { text: `https://${name}.test/v1` },
    },
    /** Of each version. An upload notes its own. */
    annotations,
    /** Such as `x@10% y@90%`; the oldest first. One by hand has no message. */
    deployments: [{ shares: `${OLD}@100%`, author: 'anna' }] as Deployment[],
    /** The versions with the secret that stops writes. */
    versionsWithStoppedWrites: [] as (string | undefined)[],
    /** Whether the worker was changed in the dashboard. */
    isChanged: false,
    /** What wrangler prints of the migrations. */
    migrations: '│ 0004_a.sql │ ✅ │',
    /** What wrangler prints instead, by the command, such as `deployments`. */
    outputs: {} as Record<string, string>,
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
  const { program } = await importWith('release.ts', {
    wrangler: { unstable_readConfig: late('readConfig') },
    '../../ops/command/project-root.ts': { PROJECT_ROOT: '/project' },
    '../../ops/command/wrangler.ts': { runWranglerIn: late('runWranglerIn') },
    'node:fs/promises': { readFile: late('readFile'), rm: late('rm') },
    '../../ops/release/tail.ts': { watchErrors: late('watchErrors') },
    '../../ops/release/smoke.ts': { testReads: late('testReads'), smokeTest: late('smokeTest') },
    '../../ops/command/command-line.ts': {
      ...commandLine,
      confirm: late('confirm'),
      onStop: late('onStop'),
    },
    'node:timers/promises': { setTimeout: late('pause') },
    'node:child_process': { execFile: late('execFile') },
  });
  return program;
}

/** A world in which staging and production serve HEAD as OLD, and a release uploads NEW. */
export function fakeRelease() {
  const environments = { staging: environment('staging'), production: environment('production') };
  const git = { status: '', 'ls-files': '', 'rev-parse': HEAD };
  /** What the release has passed, in order: a read, a test or a pause, and `before …` and `after …` each change. */
  const points: string[] = [];
  const events: { point: string | number; effect: () => unknown; times: number }[] = [];
  const gitCalls = new Set<string>();
  /** The folders of builds. */
  const folders = new Set<string>();
  let interrupt = () => {};
  /** What the watch of the log aborts, while there is one. */
  let watch: AbortController | undefined;

  function pass(point: string): void {
    points.push(point);
    for (const event of events) {
      const isHere = event.point === point || event.point === points.length - 1;
      if (event.times === 0 || !isHere) continue;
      event.times -= 1;
      event.effect();
    }
  }

  function deploy(name: Name, shares: string, message = 'by hand', author = 'berta'): void {
    environments[name].deployments.push({ shares, message, author });
  }

  /** What wrangler prints of a read. */
  function read(name: Name, [kind, , id = '']: string[]): unknown {
    const { deployments, bindings, annotations, versionsWithStoppedWrites } = environments[name];
    if (kind === 'd1') return { bookmark: 'a-bookmark' };
    if (kind === 'versions') {
      const bound = Object.entries(bindings).map(([name, value]) => ({ name, ...value }));
      const stops = versionsWithStoppedWrites.includes(id) ? [{ name: 'WRITES_STOPPED' }] : [];
      const resources = { bindings: [...bound, ...stops] };
      return { id, annotations, resources };
    }
    const list = deployments.map((each, i) => ({
      id: String(i),
      created_on: `time ${i}`,
      author_email: each.author,
      annotations: { 'workers/message': each.message },
      // Not in the order of the command.
      versions: each.shares.split(' ').reverse().map(readShare),
    }));
    return list.slice(-10);
  }

  /** What a change does, and prints. */
  function change(name: Name, args: string[]): string {
    const world = environments[name];
    const [kind, command] = args;
    const option = (name: string) => args[args.indexOf(name) + 1];
    const message = option('--message');
    if (kind === 'd1') return world.migrations;
    if (command === 'upload') {
      if (world.isChanged && args.includes('--strict')) throw new Error('changed in the dashboard');
      world.annotations = { 'workers/tag': option('--tag'), 'workers/message': message };
      return `Worker Version ID: ${NEW}\n`;
    }
    if (kind === 'triggers') return '';
    // Otherwise wrangler would ask.
    expect(args).toContain('--yes');
    const shares = args.filter((arg) => arg.includes('@')).join(' ');
    deploy(name, shares || `${command}@100%`, message, 'me');
    return '';
  }

  async function runWranglerIn(name: Name, args: string[], options: object): Promise<string> {
    // Ctrl-C does not end wrangler, and a hang does not last.
    expect(options).toEqual({ detached: true, timeout: 300_000 });
    if (args.includes('--dry-run')) return build(name, args);
    const call = `${name} ${args.join(' ')}`.replace(/ (--yes|--message|--json|\/).*/, '');
    if (args.at(-1) === '--json') {
      pass(call);
      return environments[name].outputs[args[0] ?? ''] ?? JSON.stringify(read(name, args));
    }
    pass(`before ${call}`);
    const output = change(name, args);
    pass(`after ${call}`);
    return output;
  }

  function readConfig({ config, env }: { config: string; env: Name }) {
    expect(config).toBe('/project/wrangler.toml');
    return environments[env].config;
  }

  async function build(name: Name, args: string[]): Promise<string> {
    const [command, , , folder = ''] = args;
    expect([name, command]).toEqual(['staging', 'deploy']);
    expect(folder).toMatch(/^\/project\/dist\/[\w-]{36}$/);
    folders.add(folder);
    pass('build');
    return '';
  }

  type Tested = Store & { environment: Name; signal: AbortSignal };
  const test =
    (kind: string) =>
    async ({ environment, version, override, signal, baseUrl, apiKey }: Tested) => {
      expect([baseUrl, apiKey]).toEqual([environments[environment].config.vars.BASE_URL, 'key']);
      const how = override ? ` by override ${override}` : '';
      pass(`${kind} ${environment} ${version}${how}`);
      signal.throwIfAborted();
    };

  async function pause(ms: number, _: unknown, options?: { signal: AbortSignal }): Promise<void> {
    // A caller that does not await the pause continues here.
    await Promise.resolve();
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
    gitCalls.add([name, ...args].join(' '));
    if (name === 'rev-parse') pass('HEAD');
    if (git[name] === 'fails') done(new Error('not a git repository'));
    else done(null, { stdout: `${git[name]}\n` });
  }

  /** Watches the log of a version, as ops/release/tail.ts does. An event at `log` throws when there was a 500. */
  async function watchErrors(name: Name, version: string, stop: AbortController) {
    pass(`watch ${name} ${version}`);
    watch = stop;
    const end = () => {
      watch = undefined;
    };
    return { allowLoss: () => pass('allow loss'), end };
  }

  current = {
    readConfig,
    runWranglerIn,
    readFile: async () => fake.script,
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

  const fake = {
    environments,
    git,
    points,
    gitCalls,
    folders,
    deploy,
    /** What a build contains. */
    script: SCRIPT,
    interrupt: () => interrupt(),
    isWatching: () => watch !== undefined,

    /** Does something when the release passes a point, or the point with this number; by default once. */
    at: (point: string | number, effect: () => unknown, times = 1) =>
      void events.push({ point, effect, times }),

    /** Runs `npm run release -- <args>`. `answer`: what is typed, on a terminal. */
    async release(args: string[], { answer = '', apiKey = 'key' } = {}): Promise<Result> {
      imported ??= importRelease();
      const program = await imported;
      vi.stubEnv('SMOKE_API_KEY', apiKey);
      const result = await runProgram(program, args, answer);
      vi.unstubAllEnvs();
      return result;
    },

    served: (name: Name) => environments[name].deployments.at(-1)?.shares,

    changes: () => changesOf(points),
  };
  return fake;
}

/** The changes that took effect, such as `rollback old`. */
export function changesOf(points: string[]): string[] {
  const changes = points.filter((point) => point.startsWith('after '));
  return changes.map((point) => point.replace(/^after \w+ /, ''));
}

/** As Cloudflare shows a share such as `x@10%`. */
function readShare(share: string) {
  const [version_id, percentage] = share.split('@');
  return { version_id, percentage: Number.parseInt(percentage ?? '', 10) };
}
