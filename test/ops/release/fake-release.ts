/** A fake of all that a release calls in its process: wrangler, git, the smoke test, pauses, signals and the terminal. */
import { hash } from 'node:crypto';
import type { Command } from 'commander';
import { expect, vi } from 'vitest';
import * as commandLine from '../../../ops/command/command-line.ts';
import { generateKey } from '../../../ops/keys/generate-key.ts';
import type { Endpoint } from '../../../ops/release/smoke.ts';
import { importWith, runProgram } from '../command.ts';

const SHA256 = hash('sha256', 'a script');
const KEYS = { staging: generateKey('staging'), production: generateKey('production') };

type Name = 'staging' | 'production';
type Options = { detached: boolean; env?: { WRANGLER_OUTPUT_FILE_PATH: string } };
export type Fake = ReturnType<typeof fakeRelease>;

function environment(name: Name) {
  const deployments: { shares: string; message?: string }[] = [{ shares: 'v1@100%' }];
  const outputs: Record<string, string> = {
    upload: '{ "type": "version-upload", "version_id": "v2" }',
    'time-travel': '{ "bookmark": "a-bookmark" }',
  };
  return {
    config: {
      name: `store-${name}`,
      account_id: `${name}-account`,
      vars: { BASE_URL: `https://${name}.test/v1` },
    },
    /** Of each version, as Cloudflare shows them. */
    bindings: {
      DB: { id: `${name}-database` },
      API_KEYS: { namespace_id: `${name}-keys` },
      BASE_URL: { text: `https://${name}.test/v1` },
    },
    /** Of the version `v2` alone. */
    newBindings: {} as Record<string, object>,
    /** Of each version. */
    annotations: { 'workers/tag': 'head', 'workers/message': SHA256 },
    /** Such as `x@10% y@90%`; the oldest first. One by hand has no message. */
    deployments,
    /** What wrangler prints of some commands, by the second word. */
    outputs,
    /** The tables that can be read, and the names in them: those of the applied migrations. */
    tables: { sqlite_schema: ['d1_migrations'], d1_migrations: ['1.sql'] },
    /** What `d1 migrations apply` applies. */
    toApply: ['2.sql'],
  };
}

/** What the release calls instead of the real functions: those of the newest fake. */
let current: Record<string, (...args: never[]) => unknown> = {};
/** The release, which is imported once for all tests. */
let imported: Promise<Command> | undefined;

async function importRelease() {
  const late = (...names: string[]) =>
    Object.fromEntries(names.map((name) => [name, (...args: never[]) => current[name]?.(...args)]));
  const { program } = await importWith('release.ts', {
    '../../ops/command/project-root.ts': { PROJECT_ROOT: '/project' },
    '../../ops/command/wrangler.ts': late('readConfig', 'runWranglerIn', 'requireSetUp'),
    'node:fs/promises': {
      ...late('readFile'),
      readdir: async () => ['2.sql', '1.sql', 'README.md'],
      rm: async () => {},
    },
    '../../ops/command/reject-other-config.ts': late('rejectOtherConfig'),
    '../../ops/release/tail.ts': late('watchErrors'),
    '../../ops/release/smoke.ts': late('testReads', 'smokeTest'),
    '../../ops/command/command-line.ts': { ...commandLine, ...late('confirm', 'onStop') },
    'node:timers/promises': late('setTimeout'),
    '../../ops/command/git.ts': late('git'),
  });
  return program;
}

/** A world in which staging and production serve the commit `head` as the version `v1`, and a release uploads `v2`. */
export function fakeRelease() {
  const environments = { staging: environment('staging'), production: environment('production') };
  const git = { status: '', 'ls-files': '', 'rev-parse': 'head', log: '> 1234567 Change' };
  /** What the release has passed, in order: a read, a test or a pause, and `before …` and `after …` each change. */
  const points: string[] = [];
  const events: { point: string | number; effect: () => unknown; times: number }[] = [];
  let interrupt = () => {};
  /** What the watch of the log aborts, while there is one. */
  let watch: AbortController | undefined;

  function pass(point: string) {
    points.push(point);
    for (const event of events) {
      const isHere = event.point === point || event.point === points.length - 1;
      if (event.times === 0 || !isHere) continue;
      event.times -= 1;
      event.effect();
    }
  }

  function deploy(name: Name, shares: string, message = 'by hand') {
    environments[name].deployments.push({ shares, message });
  }

  /** The output of `deployments list` and `versions view`. */
  function read(name: Name, verb: string, id = '') {
    const { deployments, bindings, newBindings, annotations } = environments[name];
    if (verb === 'view') {
      const all = Object.entries({ ...bindings, ...(id === 'v2' && newBindings) });
      return {
        id,
        annotations,
        resources: { bindings: all.map(([name, value]) => ({ name, ...value })) },
      };
    }
    return deployments.map(({ shares, message }, i) => ({
      id: String(i),
      created_on: `time ${i}`,
      author_email: name === 'production' ? 'berta' : undefined,
      annotations: { 'workers/message': message },
      // Not in the order of the command.
      versions: shares.split(' ').reverse().map(readShare),
    }));
  }

  /** By the paths of files that wrangler writes. */
  const written = new Map<string, string>();

  async function runWranglerIn(name: Name, args: string[], options: Options) {
    // Ctrl-C does not end wrangler.
    expect(options.detached).toBe(true);
    const call = `${name} ${args.join(' ')}`.replace(SHA256, 'SHA256');
    const [command, verb = '', id] = args;
    const { outputs, tables, toApply } = environments[name];
    const output = () => outputs[verb] ?? JSON.stringify(read(name, verb, id));
    const table = / FROM (\w+)/.exec(call)?.[1] as keyof typeof tables | undefined;
    if (table) {
      pass(call);
      return JSON.stringify([{ results: tables[table].map((each) => ({ name: each })) }]);
    }
    if (/ (--json|--dry-run)/.test(call)) {
      pass(call);
      return output();
    }
    pass(`before ${call}`);
    const shares = args.filter((arg) => arg.includes('@')).join(' ');
    if (command === 'rollback') deploy(name, `${verb}@100%`, args.at(-1));
    if (shares) deploy(name, shares, args.at(-1));
    if (verb === 'migrations') tables.d1_migrations.push(...toApply);
    const session = '{ "type": "wrangler-session" }\n';
    written.set(options.env?.WRANGLER_OUTPUT_FILE_PATH ?? '', session + output());
    pass(`after ${call}`);
    return output();
  }

  const test =
    (kind: string) =>
    async ({ baseUrl, version, apiKey, override }: Endpoint) => {
      expect(apiKey).toBe(fake.key);
      pass(`${kind} ${baseUrl} ${version}${override ? ` by override ${override}` : ''}`);
    };

  async function pause(ms: number, _: unknown, options?: { signal: AbortSignal }) {
    // As the real one: without the reason of the abort.
    const rejectAborted = () => {
      if (options?.signal.aborted) throw new Error('The operation was aborted');
    };
    rejectAborted();
    pass(`pause ${ms}`);
    vi.setSystemTime(Date.now() + ms);
    // A caller that does not await the pause continues here.
    await Promise.resolve();
    try {
      if (options) pass('log');
    } catch (error) {
      watch?.abort(error);
    }
    rejectAborted();
  }

  function runGit(...args: [keyof typeof git]) {
    pass(`git ${args.join(' ')}`);
    return git[args[0]];
  }

  /** Watches the log of a version, as ops/release/tail.ts does. An event at `log` throws when there was a 500. */
  async function watchErrors(name: Name, version: string, stop: AbortController) {
    pass(`watch ${name} ${version}`);
    stop.signal.throwIfAborted();
    watch = stop;
    stop.signal.addEventListener('abort', () => {
      watch = undefined;
    });
  }

  current = {
    readConfig: async (name: Name) => environments[name].config,
    runWranglerIn,
    readFile: async (path: string) => written.get(path) ?? fake.script,
    requireSetUp: (name: Name) => pass(`require set-up of ${name}`),
    rejectOtherConfig: () => pass('reject other configurations'),
    watchErrors,
    testReads: test('reads'),
    smokeTest: test('all'),
    confirm(...args: Parameters<typeof commandLine.confirm>) {
      pass('confirm');
      return commandLine.confirm(...args);
    },
    onStop(stop: () => void) {
      interrupt = stop;
    },
    setTimeout: pause,
    git: runGit,
  };

  const fake = {
    environments,
    git,
    points,
    deploy,
    /** What a build contains. */
    script: 'a script',
    /** The key that the smoke test must get. */
    key: '',
    interrupt: () => interrupt(),
    isWatching: () => watch !== undefined,

    /** Does something when the release passes a point, or the point with this number; by default once. */
    at: (point: string | number, effect: () => unknown, times = 1) =>
      void events.push({ point, effect, times }),

    /** Runs `npm run release -- <args>`. `answer`: what is typed, on a terminal. */
    async release(
      args: string[],
      answer = '',
      key = KEYS[args.includes('staging') ? 'staging' : 'production'],
    ) {
      imported ??= importRelease();
      const program = await imported;
      fake.key = key.trim();
      vi.stubEnv('SMOKE_API_KEY', key);
      const result = await runProgram(program, args, answer);
      vi.unstubAllEnvs();
      return result;
    },

    served: () => environments.production.deployments.at(-1)?.shares,

    changes: () => changesOf(points),
  };
  return fake;
}

/** The changes that took effect, such as `rollback v1 --yes --message mine`. */
export function changesOf(points: string[]) {
  const changes = points.filter((point) => point.startsWith('after '));
  return changes.map((point) => point.replace(/^after \w+ /, ''));
}

/** As Cloudflare shows a share such as `x@10%`. */
function readShare(share: string) {
  const [version_id, percentage] = share.split('@');
  return { version_id, percentage: Number.parseInt(percentage ?? '', 10) };
}
