/** Two whole releases, one to staging and its promotion, through the real wrangler, to a fake of Cloudflare's API. */
import { execFile } from 'node:child_process';
import { readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { WRANGLER_ENV } from '../../../ops/wrangler.ts';
import { ACCOUNT, type Cloudflare, startCloudflare } from '../../support/fake-cloudflare.ts';
import { readPlaceholders } from '../../support/placeholders.ts';
import { copyProject } from '../../support/project.ts';

const project = copyProject();
let cloudflare: Cloudflare;

/** Sends no requests: release.test.ts shows when a release is tested, and smoke.test.ts how. */
const SMOKE = `
  export const testReads = async () => {};
  export const smokeTest = async () => {};`;
/** What wrangler.toml has instead of ids. */
const PLACEHOLDERS = /(staging|production)-(database|api-keys)-id/g;

const path = (name: string) => join(project.path(), name);

async function git(...args: string[]): Promise<string> {
  const identity = ['-c', 'user.name=Test', '-c', 'user.email=test@animals.test'];
  const options = { cwd: project.path() };
  return (await promisify(execFile)('git', [...identity, ...args], options)).stdout.trim();
}

/** Runs a script of ops, or wrangler as the operations page does. */
function start(script: string, ...args: string[]) {
  return project.run(script, args, {
    ...cloudflare.env,
    ...WRANGLER_ENV,
    WRANGLER_LOG_PATH: path('.wrangler/logs'),
    // A user's own level hides what a release reads.
    WRANGLER_LOG: 'error',
    SMOKE_API_KEY: 'a key',
  });
}

/** As `start`. It must succeed. Returns what it prints. */
async function run(script: string, ...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await start(script, ...args);
  expect(code, stdout + stderr).toBe(0);
  return stdout;
}

/** Runs a release that must fail. Returns its errors. */
async function failing(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await start('release.ts', ...args);
  expect(code, stdout + stderr).toBe(1);
  return stderr;
}
const wrangler = (...args: string[]) =>
  run('../node_modules/wrangler/wrangler-dist/cli.js', ...args);

const find = (environment: string) => cloudflare.find(`animal-store-${environment}`);
/** Does something once, when a promotion has given its version 10 %. */
function at10Percent(effect: () => void): void {
  cloudflare.state.onAnswer = (call) => {
    if (!call.endsWith('/deployments 10/90')) return;
    cloudflare.state.onAnswer = () => {};
    effect();
  };
}
const sharesOf = (environment: string) =>
  find(environment).deployments.map(({ versions }) =>
    versions.map(({ percentage }) => percentage).join('/'),
  );

/** The calls since the start of the test that change something, without account and SQL. */
const changes = () =>
  cloudflare.calls
    .filter((call) => !/^GET |assets|changeset|tails|query (SELECT|CREATE TABLE IF)/.test(call))
    .map((call) => call.replace(/\/accounts\/.*?\/(scripts|database)\/[^/]+\//, ''))
    .map((call) => call.replace(/(?<=POST query).*/, ''));

beforeAll(async () => {
  cloudflare = await startCloudflare();
  await writeFile(path('ops/release/smoke.ts'), SMOKE);
  await writeFile(path('.gitignore'), 'node_modules\ndist/\n.wrangler/\n');
  const named = readPlaceholders().replaceAll('animal-store.example', 'animals.test');
  const config = named.replace(PLACEHOLDERS, '$2-of-$1').replace(/\w+-account-id/g, ACCOUNT);
  await writeFile(path('wrangler.toml'), config);
  await git('init', '--quiet');
  await git('add', '--all');
  await git('commit', '--quiet', '--message', 'Begin');
});
beforeEach(() => {
  cloudflare.calls.length = 0;
});
afterAll(() => cloudflare.close());

const PROMOTE = ['promote', '--yes', '--hold'];

describe('from the first set-up on', { shuffle: false }, () => {
  test('a release to a worker that does not exist names the page to read', async () => {
    const page = 'staging is not set up. See "First set-up" in docs/operations.md.';
    expect(await failing('staging')).toContain(page);
  });

  test.each(['staging', 'production'])('wrangler deploys the first version of %s', async (env) => {
    await wrangler('d1', 'migrations', 'apply', 'DB', '--env', env, '--remote');
    await wrangler('deploy', '--env', env, '--no-x-provision');
    expect(sharesOf(env)).toEqual(['100']);
    expect(cloudflare.hosts.size).toBe(env === 'staging' ? 1 : 2);
  });

  test('a release refuses a file that is not in the commit', async () => {
    await writeFile(path('src/new.ts'), '');
    expect(await failing('staging')).toBe('error: commit or remove first: ?? src/new.ts\n');
    await rm(path('src/new.ts'));
    await writeFile(path('migrations/node_modules'), '');
    expect(await failing('staging')).toBe(
      'error: commit or remove first: migrations/node_modules\n',
    );
    await rm(path('migrations/node_modules'));
    expect(changes()).toEqual([]);
  });

  test('a migration that D1 refuses in a successful response ends a release', async () => {
    cloudflare.state.failsMigrations = true;
    const error = await failing('staging');
    cloudflare.state.failsMigrations = false;
    expect(error).toMatch(/a migration failed: .*❌.*; no version was deployed\n$/);
    expect(sharesOf('staging')).toEqual(['100']);
  });

  test('a release to staging serves HEAD to all', async () => {
    expect(await run('release.ts', 'staging')).toMatch(/staging serves \S{36} to all\.\n$/);
    const { versions, deployments } = find('staging');
    const next = versions.at(-1);
    expect(sharesOf('staging')).toEqual(['100', '0/100', '100']);
    expect(deployments.at(-1)?.versions).toEqual([{ version_id: next?.id, percentage: 100 }]);
    expect(next?.annotations['workers/tag']).toBe(await git('rev-parse', 'HEAD'));
    expect(await readdir(path('dist'))).toEqual([]);
  });

  test('a promotion whose token may not tail the log never serves 10 %', async () => {
    cloudflare.state.mayTail = false;
    const error = await failing(...PROMOTE, '1');
    cloudflare.state.mayTail = true;
    expect(error).toMatch(
      /the watch of the log failed, not the version: .*Authentication error.*; production serves/,
    );
    expect(sharesOf('production')).toEqual(['100', '0/100', '100']);
  });

  test('a promotion whose version logs a 500 goes back', async () => {
    const line = {
      method: 'POST',
      route: '/v1/pets',
      code: 'internal_error',
      cause: 'no such table',
    };
    at10Percent(() => cloudflare.log(JSON.stringify(line)));
    const error = await failing(...PROMOTE, '60');
    expect(error).toMatch(
      /the version answered 500: .*\/v1\/pets.*no such table.*; production serves/,
    );
    expect(sharesOf('production').slice(3)).toEqual(['0/100', '10/90', '100']);
    await expect.poll(() => cloudflare.state.tails).toBe(0);
  });

  test.each([
    ['cutTails', 'Tail connection lost'],
    ['closeTails', 'wrangler tail is not connected'],
  ] as const)('a promotion that loses its watch by %s goes back', async (lose, reason) => {
    const before = sharesOf('production').length;
    at10Percent(() => cloudflare[lose]());
    const error = await failing(...PROMOTE, '60');
    cloudflare.state.refusesTails = false;
    const why = `the watch of the log failed, not the version: .*${reason}.* watch: --unwatched`;
    expect(error).toMatch(new RegExp(`${why}; production serves \\S+@100%\n`));
    expect(sharesOf('production').slice(before)).toEqual(['0/100', '10/90', '100']);
    await expect.poll(() => cloudflare.state.tails).toBe(0);
  });

  test('the bytes of staging are promoted, through 0, 10 and 100 % of requests', async () => {
    await run('release.ts', ...PROMOTE, '1');
    const promoted = find('production').versions.at(-1);
    const tested = find('staging').versions.at(-1);
    expect(promoted?.code).toBe(tested?.code);
    expect(promoted?.annotations).toEqual(tested?.annotations);
    const made = [...new Set(changes())];
    const shares = ['0/100', '10/90', '100'].map((each) => `POST deployments ${each}`);
    const settings = 'PATCH script-settings';
    expect(made.slice(0, 6)).toEqual(['POST versions', settings, 'POST query', ...shares]);
    // Wrangler sends these at the same time.
    expect(made.slice(6).sort()).toEqual([
      'POST subdomain',
      'PUT domains/records',
      'PUT schedules',
    ]);
  });

  test('a rollback serves the first version again', async () => {
    const { versions } = find('production');
    const id = versions[0]?.id ?? '';
    await run('release.ts', 'rollback', id, '--env', 'production', '--yes');
    const { deployments } = find('production');
    // The message tells the deployments of a run from those of others, also on its way back.
    const annotations = { 'workers/message': 'rollback by hand' };
    const served = [{ version_id: id, percentage: 100 }];
    expect(deployments.at(-1)).toMatchObject({ annotations, versions: served });
    expect(changes()).toEqual(['POST deployments 100']);
  });
});
