/** Rolling out, and returning, with wrangler in memory and a store in the real runtime. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { readDeployed, type Target } from '../../../ops/release/cloudflare.ts';
import { settledVersion } from '../../../ops/release/next-step.ts';
import { rollOut } from '../../../ops/release/rollout.ts';
import { startStore } from '../../store.ts';

const store = startStore();
const RESUMED = 'release: 10 % return=old run=0';

/** The version that the store answers as, which is the one that is uploaded. */
let NEW: string;
let folder: string;
let said: string[];
/** The commands that changed something, and those that had no time limit. */
let changes: string[];
let unlimited: string[];
/** What happens once, before or after the commands that begin so. */
let hooks: Record<string, () => void>;
let stopped: AbortController;
let versions: { id: string; metadata: object; annotations: object }[];
let deployments: { versions: object[]; annotations: object }[];

function upload(id: string, message: string): void {
  const created_on = String(versions.length).padStart(2, '0');
  versions.push({ id, metadata: { created_on }, annotations: { 'workers/message': message } });
}

/** Such as `deploy('new 10, old 90', 'message')`. */
function deploy(shares: string, message: string): void {
  const pairs = shares.split(', ').map((share) => share.split(' '));
  const list = pairs.map(([version_id, share]) => ({ version_id, percentage: Number(share) }));
  deployments.push({ versions: list, annotations: { 'workers/message': message } });
}

const target: Target = {
  ...{ environment: 'production', worker: 'worker', baseUrl: '' },
  async wrangler(args, { env, limitMs } = {}) {
    const call = args.join(' ').replace(/ (--|\/).*/, '');
    const message = args[args.indexOf('--message') + 1] ?? '';
    runHook(`before ${call}`);
    if (call === 'deployments list') return JSON.stringify(deployments.slice(-10));
    if (call === 'versions list') return JSON.stringify(versions.slice(-10));
    const viewed = versions.find(({ id }) => call === `versions view ${id}`);
    if (viewed) return JSON.stringify(viewed);
    if (call === 'd1 time-travel info DB') return '{"bookmark":"now"}';
    if (call === 'd1 execute DB') return '[{"results":[{"name":"0001_first.sql"}]}]';
    changes.push(call.replaceAll(NEW, 'new'));
    if (limitMs === 0) unlimited.push(call);
    if (call === 'deploy') {
      upload('empty', message);
      deploy('empty 100', '');
    } else if (call === 'versions upload') {
      upload(NEW, message);
      await writeFile(env?.WRANGLER_OUTPUT_FILE_PATH ?? '', JSON.stringify({ version_id: NEW }));
    } else if (call.startsWith('versions deploy')) {
      deploy(call.slice(16).replaceAll('@', ' ').replaceAll('% ', ', ').slice(0, -1), message);
    }
    runHook(`after ${call}`);
    return '';
  },
};

function runHook(point: string): void {
  const found = Object.keys(hooks).find((start) => point.startsWith(start)) ?? '';
  const hook = hooks[found];
  delete hooks[found];
  hook?.();
}

async function promote(): Promise<unknown> {
  const release = { commit: 'n', digest: 'n', folder, config: '', worker: '/index.js' };
  const apiKey = await store.issueKey();
  return rollOut({
    ...{ target, release, percentages: [0, 10, 100], endsOthers: false, waitSeconds: 0 },
    store: { environment: 'local', baseUrl: `${store.url()}/v1`, apiKey },
    say: (line) => void said.push(line),
    signal: stopped.signal,
  });
}

beforeEach(async () => {
  NEW = /"version":"([^"]+)"/.exec((await store.fetch('/health')).text)?.[1] ?? '';
  folder = await mkdtemp(join(tmpdir(), 'animal-store-'));
  await mkdir(join(folder, 'migrations'));
  await writeFile(join(folder, 'migrations/0001_first.sql'), '');
  [said, changes, unlimited, versions, deployments, hooks] = [[], [], [], [], [], {}];
  stopped = new AbortController();
  upload('old', 'commit=o digest=o bookmark=b');
  deploy('old 100', 'settled release: tested');
});
afterEach(() => rm(folder, { recursive: true }));

const ROLL_OUT = ['versions deploy new@0% old@100%', 'versions deploy new@10% old@90%'];
const RETURN = 'versions deploy old@100%';

test('a first release has an address before its tests, and its migrations have no time limit', async () => {
  [versions, deployments] = [[], []];
  await writeFile(join(folder, 'migrations/0002_second.sql'), '');
  await promote();
  expect(changes).toEqual([
    ...['deploy', 'versions upload', 'd1 migrations apply DB', 'triggers deploy'],
    ...ROLL_OUT.map((call) => call.replace('old', 'empty')),
    ...['versions deploy new@100%', 'versions deploy new@100%'],
  ]);
  expect(unlimited).toEqual(['d1 migrations apply DB']);
});

test('another release gets its routes when it has passed its tests at 100 %', async () => {
  await promote();
  const at100 = 'versions deploy new@100%';
  expect(changes).toEqual(['versions upload', ...ROLL_OUT, at100, 'triggers deploy', at100]);
  expect(said.join()).toContain('To restore the data of now');
});

test('nothing is changed when another operator deploys during the preparation', async () => {
  hooks['before d1 time-travel'] = () => deploy('old 100', 'mine');
  await expect(promote()).rejects.toThrow('another operator has deployed; production serves old');
  expect(changes).toEqual([]);
});

test('nothing is changed when it is interrupted during the preparation', async () => {
  hooks['before d1 time-travel'] = () => {
    hooks['before deployments'] = () => stopped.abort();
  };
  await expect(promote()).rejects.toThrow('interrupted; production serves old to all');
  expect(changes).toEqual([]);
});

test('what another run deployed stays when the preparation fails', async () => {
  upload(NEW, 'commit=n digest=n bookmark=b');
  deploy(`${NEW} 10, old 90`, RESUMED);
  hooks['before d1 execute'] = () => {
    throw new Error('no database');
  };
  await expect(promote()).rejects.toThrow(/^no database; production serves 10 % .*--unfinished/);
  expect(changes).toEqual([]);
});

test('a run that resumes deploys the shares again, as its own, and returns when it fails', async () => {
  upload(NEW, 'commit=n digest=n bookmark=b');
  deploy(`${NEW} 10, old 90`, RESUMED);
  hooks['after versions deploy'] = () => stopped.abort();
  await expect(promote()).rejects.toThrow('interrupted; production serves old to all');
  expect(changes).toEqual([ROLL_OUT[1], RETURN]);
  expect(deployments.at(-1)?.annotations).toEqual({
    'workers/message': 'settled release: returned',
  });
});

test('what another operator deploys during the tests stays', async () => {
  hooks['after versions deploy'] = () => deploy('old 50, foreign 50', 'mine');
  upload('foreign', '');
  await expect(promote()).rejects.toThrow(
    /another operator has .*, which another operator deployed/,
  );
  expect(changes).toEqual(['versions upload', ROLL_OUT[0]]);
});

test('commands that fail after they took effect: what is served is read', async () => {
  hooks['after versions deploy'] = () => {
    hooks['after versions deploy'] = () => {
      throw new Error('second');
    };
    throw new Error('first');
  };
  await expect(promote()).rejects.toThrow('first; production serves old to all');
  expect(changes).toEqual(['versions upload', ROLL_OUT[0], RETURN]);
});

test('of twelve steps and thirteen versions ten are listed: the version to return to is read', async () => {
  for (let count = 0; count < 12; count += 1) {
    upload(`new-${count}`, `commit=${count} digest=n bookmark=b`);
    deploy(`new-${count} 10, old 90`, RESUMED);
  }
  const deployed = await readDeployed(target);
  expect(deployed.deployments).toHaveLength(10);
  expect(deployed.versions.map(({ id }) => id)).toContain('old');
  expect(settledVersion(deployed)).toBe('old');
});
