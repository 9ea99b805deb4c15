/** Two whole releases, one to staging and its promotion, through the real wrangler, to a fake of Cloudflare's API. */
import { once } from 'node:events';
import { rmSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { generateKey } from '../../../ops/keys/generate-key.ts';
import { type Clone, cloneProject } from '../clone.ts';
import { type Cloudflare, startCloudflare } from '../fake-cloudflare.ts';
import { startProcess } from '../project.ts';
import { setUp } from '../set-up.ts';

let cloudflare: Cloudflare;
let clone: Clone;

/** Sends no requests: release.test.ts shows when a release is tested, and smoke.test.ts how. */
const SMOKE = 'export const testReads = async () => {}; export const smokeTest = async () => {};';
const PROMOTE = 'release.ts promote --yes --hold';
const COMMIT = 'git add --all; git commit -qm Change';

// A user's own level of wrangler's log hides what a release reads.
const ENV = {
  WRANGLER_LOG: 'error',
  SMOKE_API_KEY: generateKey('production'),
};
const STAGING_ENV = { ...ENV, SMOKE_API_KEY: generateKey('staging') };

/** Runs a command of ops that must have this exit code. Returns its errors. */
async function run(exitCode: number, line: string) {
  const env = line.includes('staging') ? STAGING_ENV : ENV;
  const { code, stdout, stderr } = await clone.start(`node ops/${line}`, env);
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
  return clone.remove;
});
beforeEach(() => {
  const state = { failsMigrations: false, refusesTails: false, holdsTails: false };
  Object.assign(cloudflare.state, { ...state, onDeploy: () => {} });
});
afterAll(() => cloudflare.close());

describe('from the first set-up on', { shuffle: false }, () => {
  test('both environments are set up', async () => {
    await setUp(clone, 'staging', 'animal-store-staging.anna.workers.dev');
    await setUp(clone, 'production', 'api.animals.test');
    await clone.run(COMMIT);
  });

  test('a migration that D1 refuses in a successful response ends a release', async () => {
    writeFileSync(clone.path('migrations/9999_new.sql'), 'CREATE TABLE new (id INTEGER) STRICT;');
    await clone.run(COMMIT);
    cloudflare.state.failsMigrations = true;
    const error = await run(1, 'release.ts staging');
    expect(error).toContain('error: migrations failed: 9999_new.sql. ');
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
    ['the connection is lost', () => {}, 'Tail connection lost'],
    [
      // For a minute. Wrangler then ignores SIGTERM.
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

  /** Does something when the new version of production gets 10 % of the requests. */
  const at10 = (event: () => void) => {
    cloudflare.state.onDeploy = () => {
      if (sharesOf('production').at(-1) === '10/90') event();
    };
  };

  test.each([
    [
      'logs a 500',
      () => cloudflare.log('{"code":"internal_error","cause":"no table"}'),
      'no table',
    ],
    ['logs too much to watch', () => cloudflare.overload(), '--hold 0): Dropping events'],
  ])('a promotion whose version %s goes back, also when files appear', async (_, event, reason) => {
    const files = { '.env': 'WRANGLER_CI_OVERRIDE_NAME=another', 'wrangler.json': '{}' };
    at10(() => {
      event();
      for (const [name, text] of Object.entries(files)) writeFileSync(clone.path(name), text);
    });
    const error = await run(1, `${PROMOTE} 60`);
    for (const name of Object.keys(files)) rmSync(clone.path(name));
    expect(error).toContain(reason);
    expect(sharesOf('production').slice(-3)).toEqual(['0/100', '10/90', '100']);
    await expect.poll(() => cloudflare.state.tails).toBe(0);
  });

  test('an interrupted promotion goes back, also when nobody reads its output any more', async () => {
    const args = [...PROMOTE.split(' '), '60'];
    const { process: child } = startProcess(args, clone.path('ops'), { ...cloudflare.env, ...ENV });
    at10(() => {
      child.stdout.destroy();
      child.stderr.destroy();
      child.kill('SIGINT');
    });
    const [code] = await once(child, 'exit');
    expect([code, sharesOf('production').slice(-3)]).toEqual([1, ['0/100', '10/90', '100']]);
  });

  test('the bytes of staging are promoted, through 0, 10 and 100 % of requests', async () => {
    // Git does not know the served version, which says no more than the plan does.
    expect(await run(0, `${PROMOTE} 1`)).toBe('');
    const promoted = find('production').versions.at(-1);
    const tested = find('staging').versions.at(-1);
    expect(promoted?.code).toBe(tested?.code);
    expect(promoted?.annotations).toEqual(tested?.annotations);
    expect(sharesOf('production').slice(-3)).toEqual(['0/100', '10/90', '100']);
  });
});
