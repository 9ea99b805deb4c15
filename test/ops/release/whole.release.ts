/** Two whole releases, one to staging and its promotion, through the real wrangler, to a fake of Cloudflare's API. */
import { once } from 'node:events';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { type Clone, cloneProject } from '../../support/clone.ts';
import { ACCOUNT, type Cloudflare, startCloudflare } from '../../support/fake-cloudflare.ts';
import { startProcess } from '../../support/project.ts';
import { setUp } from '../../support/set-up.ts';

let cloudflare: Cloudflare;
let clone: Clone;

/** Sends no requests: release.test.ts shows when a release is tested, and smoke.test.ts how. */
const SMOKE = 'export const testReads = async () => {}; export const smokeTest = async () => {};';
const PROMOTE = 'release.ts promote --yes --hold';
const COMMIT = 'git add --all; git commit -qm Change';

// A user's own level of wrangler's log hides what a release reads.
// In a hook of another repository, git would read that one.
const ENV = { WRANGLER_LOG: 'error', GIT_DIR: 'of another repository', SMOKE_API_KEY: 'a key' };

/** Runs a command of ops that must have this exit code. Returns its errors. */
async function run(exitCode: number, line: string) {
  const { code, stdout, stderr } = await clone.start(`node ops/${line}`, ENV);
  expect(code, stdout + stderr).toBe(exitCode);
  return stderr;
}

const find = (environment: string) => cloudflare.find(`animal-store-${environment}`);
const sharesOf = (environment: string) =>
  find(environment).deployments.map(({ versions }) =>
    versions.map(({ percentage }) => percentage).join('/'),
  );

beforeAll(async () => {
  cloudflare = await startCloudflare();
  clone = await cloneProject(cloudflare);
  writeFileSync(clone.path('ops/release/smoke.ts'), SMOKE);
  const watch = readFileSync(clone.path('ops/release/tail.ts'), 'utf8');
  writeFileSync(clone.path('ops/release/tail.ts'), watch.replace('60_000', '20_000'));
  return clone.remove;
});
beforeEach(() => {
  cloudflare.calls.length = 0;
  const state = { failsMigrations: false, mayTail: true, refusesTails: false, holdsTails: false };
  Object.assign(cloudflare.state, { ...state, onDeploy: () => {} });
});
afterAll(() => cloudflare.close());

describe('from the first set-up on', { shuffle: false }, () => {
  test('undo on a worker that does not exist names the page to read', async () => {
    clone.editConfig('production-account-id', ACCOUNT);
    const page = 'production is not set up. See docs/set-up.md.';
    expect(await run(1, 'release.ts undo production mine')).toContain(page);
    clone.editConfig(ACCOUNT, 'production-account-id');
  });

  test('both environments are set up', async () => {
    await setUp(clone, 'staging', 'animal-store-staging.anna.workers.dev');
    await setUp(clone, 'production', 'api.animals.test');
    await clone.run(COMMIT);
  });

  test('a release refuses a file that git ignores', async () => {
    writeFileSync(clone.path('migrations/node_modules'), '');
    const stderr = await run(1, 'release.ts staging');
    rmSync(clone.path('migrations/node_modules'));
    expect(stderr).toContain('error: commit or remove first: migrations/node_modules');
    expect(cloudflare.calls).toEqual([]);
  });

  test('a migration that D1 refuses in a successful response ends a release', async () => {
    writeFileSync(clone.path('migrations/9999_new.sql'), 'CREATE TABLE new (id INTEGER) STRICT;');
    await clone.run(COMMIT);
    cloudflare.state.failsMigrations = true;
    const error = await run(1, 'release.ts staging');
    expect(error).toContain('error: a migration failed: ');
    expect(sharesOf('staging')).toEqual(['100']);
  });

  test('a release to staging serves HEAD to all', async () => {
    await run(0, 'release.ts staging');
    const { versions, deployments } = find('staging');
    const next = versions.at(-1);
    expect(sharesOf('staging')).toEqual(['100', '0/100', '100']);
    expect(deployments.at(-1)?.versions).toEqual([{ version_id: next?.id, percentage: 100 }]);
    expect(next?.annotations['workers/tag']).toBe((await clone.run('git rev-parse HEAD')).trim());
  });

  test.each([
    [
      'the token may not watch it',
      () => (cloudflare.state.mayTail = false),
      'Authentication error',
    ],
    ['the connection is lost', () => {}, 'Tail connection lost'],
    [
      // Wrangler then ignores SIGTERM.
      'Cloudflare does not answer',
      () => (cloudflare.state.holdsTails = true),
      'wrangler tail is not connected',
    ],
  ])('a watch of the log ends when %s', async (_, given, error) => {
    for (const [name, value] of Object.entries(cloudflare.env)) vi.stubEnv(name, value);
    const tail: typeof import('../../../ops/release/tail.ts') = await import(
      clone.path('ops/release/tail.ts')
    );
    const stop = new AbortController();
    const ended = once(stop.signal, 'abort');
    given();
    // Once it is connected, the connection is cut.
    await tail.watchErrors('production', 'a-version', stop).then(cloudflare.cutTails, () => {});
    await ended;
    vi.unstubAllEnvs();
    expect(stop.signal.reason.message).toContain(error);
    await expect.poll(() => cloudflare.state.tails).toBe(0);
  });

  test('a promotion whose version logs a 500 goes back', async () => {
    cloudflare.state.onDeploy = () => {
      if (sharesOf('production').at(-1) === '10/90')
        cloudflare.log('{"code":"internal_error","cause":"no such table"}');
    };
    const error = await run(1, `${PROMOTE} 60`);
    expect(error).toContain('no such table');
    expect(sharesOf('production').slice(-3)).toEqual(['0/100', '10/90', '100']);
    await expect.poll(() => cloudflare.state.tails).toBe(0);
  });

  test('an interrupted promotion goes back, also when nobody reads its output any more', async () => {
    const args = [...PROMOTE.split(' '), '60'];
    const { process: child } = startProcess(args, clone.path('ops'), { ...cloudflare.env, ...ENV });
    cloudflare.state.onDeploy = () => {
      if (sharesOf('production').at(-1) !== '10/90') return;
      child.stdout.destroy();
      child.stderr.destroy();
      child.kill('SIGINT');
    };
    const [code] = await once(child, 'exit');
    expect([code, sharesOf('production').slice(-3)]).toEqual([1, ['0/100', '10/90', '100']]);
  });

  test('the bytes of staging are promoted, through 0, 10 and 100 % of requests', async () => {
    await run(0, `${PROMOTE} 1`);
    const promoted = find('production').versions.at(-1);
    const tested = find('staging').versions.at(-1);
    expect(promoted?.code).toBe(tested?.code);
    expect(promoted?.annotations).toEqual(tested?.annotations);
    expect(sharesOf('production').slice(-3)).toEqual(['0/100', '10/90', '100']);
    const script = `/accounts/${ACCOUNT}/workers/scripts/animal-store-production`;
    const triggers = [`PUT ${script}/domains/records`, `PUT ${script}/schedules`];
    expect(cloudflare.calls).toEqual(expect.arrayContaining(triggers));
  });
});
