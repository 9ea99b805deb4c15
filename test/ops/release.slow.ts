/** Set-ups and releases with the real wrangler, against a fake of Cloudflare. */
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { generateKey } from '../../ops/keys/generate-key.ts';
import { cloneProject } from '../support/clone.ts';
import { type Cloudflare, error, startCloudflare } from '../support/fake-cloudflare.ts';
import { startProcess } from '../support/project.ts';

let cloudflare: Cloudflare;
let clone: Awaited<ReturnType<typeof cloneProject>>;

const PROMOTE = 'node ops/release.ts promote --yes --hold 1';
const KEYS = { staging: generateKey('staging'), production: generateKey('production') };

/** Starts a command line in the clone. */
function start(line: string) {
  const SMOKE_API_KEY = KEYS[line.includes('staging') ? 'staging' : 'production'];
  const env = { ...cloudflare.env, SMOKE_API_KEY };
  return startProcess(['-c', `exec ${line}`], clone.folder, env, 'sh');
}

/** Runs a command line that must end with this code. Returns what it prints. */
async function run(line: string, expected = 0) {
  const { code, stdout, stderr } = await start(line).exited;
  expect(code, stdout + stderr).toBe(expected);
  return stdout + stderr;
}

/** Does something after the first call that matches, before it is answered. */
function at(call: RegExp, event: () => Response | undefined) {
  cloudflare.state.onCall = (line) => (call.test(line) ? event() : undefined);
}

async function killAt(call: RegExp, line: string) {
  const { process: child, output, exited } = start(line);
  at(call, () => void child.kill('SIGKILL'));
  await exited;
  cloudflare.state.onCall = () => undefined;
  return output.stdout;
}

const deploymentsOf = (environment: string) =>
  cloudflare.find(`animal-store-${environment}`).deployments.map(({ versions }) => versions);
const sharesOf = (environment: string) =>
  deploymentsOf(environment).map((versions) => versions.map((each) => each.percentage).join('/'));

beforeAll(async () => {
  cloudflare = await startCloudflare();
  clone = await cloneProject(cloudflare);
});
beforeEach(() => {
  Object.assign(cloudflare.state, { failsMigrations: false, onCall: () => undefined });
});
afterAll(async () => {
  cloudflare.close();
  await clone.remove();
});

describe('from an empty account on', { shuffle: false }, () => {
  test('nothing is released without a set-up', async () => {
    expect(await run(PROMOTE, 1)).toBe('error: production is not set up. See docs/set-up.md\n');
  });

  test('a set-up that is killed goes on, and ends with one store, an address and a key', async () => {
    const line = 'node ops/set-up.ts staging';
    await killAt(/POST \S+namespaces /, line);
    await killAt(/POST \S+subdomain /, line);
    expect(await run(line)).toMatch(
      /^curl -i https:\/\/animal-store-staging\.anna\.workers\.dev\/v1\/pets .*animal_staging_/m,
    );
    await run('node ops/set-up.ts production --domain api.animals.test --yes');
    const { databases, namespaces, hosts, atWorkersDev } = cloudflare;
    expect(databases.map(({ name }) => name)).toEqual([
      'animal-store-staging',
      'animal-store-production',
    ]);
    expect(namespaces.map(({ values }) => values.size)).toEqual([1, 1]);
    expect([...hosts]).toEqual([['api.animals.test', 'animal-store-production']]);
    expect([...atWorkersDev]).toEqual(['animal-store-staging']);
    writeFileSync(
      join(clone.folder, 'migrations/9999_new.sql'),
      'CREATE TABLE a (b INTEGER) STRICT;',
    );
    expect(await run(PROMOTE, 1)).toContain('commit or remove first');
    clone.git('add', '--all');
    clone.git('commit', '-qm', 'Set up');
    expect(await run(PROMOTE, 1)).toContain('staging serves the commit undefined, not');
  });

  test('a release to staging serves HEAD to all', async () => {
    await run('node ops/release.ts staging');
    const next = cloudflare.find('animal-store-staging').versions.at(-1);
    expect(sharesOf('staging').slice(-2)).toEqual(['0/100', '100']);
    expect(deploymentsOf('staging').at(-1)?.[0]?.version_id).toBe(next?.id);
    expect(next?.annotations['workers/tag']).toBe(clone.git('rev-parse', 'HEAD').trim());
  });

  test('a migration that D1 refuses in a successful response ends a promotion', async () => {
    cloudflare.state.failsMigrations = true;
    expect(await run(PROMOTE, 1)).toContain('migrations failed: 9999_new.sql');
    expect(sharesOf('production')).toEqual(['100']);
  });

  test.each([
    ['the upload', /POST \S+\/versions /],
    ['a migration', /INSERT INTO/],
    ['the deployment at 0 %', /POST \S+deployments .*"percentage":0/],
    ['the test at 0 %', /GET \/pets 0%/],
    ['the settings after the deployment at 10 %', /POST \S+deployments .*"percentage":10\b/],
    ['the test at 10 %', /GET \/pets 10%/],
    // That of the old version, too.
    ['each deployment at 100 %', /POST \S+deployments .*:100}\]/],
    ['the routes', /\/domains\/records/],
  ])('a promotion goes back when %s fails', async (_, call) => {
    const before = deploymentsOf('production').at(-1);
    at(call, () => error(500, 10001, 'a fault').getResponse());
    const output = await run(PROMOTE, 1);
    expect(output).toContain('error: production serves');
    expect(deploymentsOf('production').at(-1)).toEqual(before);
  });

  test('an interrupted promotion goes back, also when nobody reads its output any more', async () => {
    const before = deploymentsOf('production').at(-1);
    const { process: child } = start(PROMOTE);
    at(/GET \/pets 10%/, () => {
      child.stdout.destroy();
      child.stderr.destroy();
      return void child.kill('SIGINT');
    });
    expect([...(await once(child, 'exit'))]).toEqual([1, null]);
    expect(sharesOf('production').slice(-2)).toEqual(['10/90', '100']);
    expect(deploymentsOf('production').at(-1)).toEqual(before);
  });

  test('a promotion leaves what somebody else deploys', async () => {
    const before = deploymentsOf('production').at(-1) ?? [];
    const others = [{ version_id: 'theirs', percentage: 100 }];
    at(/GET \/pets 10%/, () => void cloudflare.deploy('animal-store-production', others));
    expect(await run(PROMOTE, 1)).toContain('somebody else deployed theirs@100%');
    expect(deploymentsOf('production').at(-1)).toEqual(others);
    cloudflare.deploy('animal-store-production', before);
  });

  test('a killed promotion is undone by the command that it printed', async () => {
    const before = deploymentsOf('production').at(-1);
    const output = await killAt(/GET \/pets 10%/, PROMOTE);
    expect(await run(PROMOTE, 1)).toContain('a release is unfinished');
    await run(/npx wrangler versions deploy .*/.exec(output)?.[0] ?? '');
    expect(deploymentsOf('production').at(-1)).toEqual(before);
  });

  test('a promotion reaches 0, 10 and 100 % of requests', async () => {
    expect(await run('node ops/release.ts promote --dry-run')).not.toContain('versions upload');
    await run(PROMOTE);
    expect(sharesOf('production').slice(-3)).toEqual(['0/100', '10/90', '100']);
  });
});
