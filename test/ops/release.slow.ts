/**
 * Releases with the real wrangler, against a fake of Cloudflare. Each begins with a commit that
 * staging serves, and a migration.
 */
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { startClone } from './clone.ts';
import { error, ok, toAll } from './fake-cloudflare.ts';

const { start, run, typeIn, cloudflare, clone } = startClone(true);

const PROMOTE = 'node ops/release.ts promote --yes';
const AT_0 = /GET \/pets 0%/;
/** That of one version alone. */
const DEPLOY_100 = /POST \S+deployments .*"versions":\[\{[^}]*:100\}\]/;
const fault = () => error(400, 10001, 'a fault').getResponse();
const path = (file: string) => join(clone().folder, file);
const write = (file: string, text: string) => writeFileSync(path(file), text);
const read = (file: string) => readFileSync(path(file), 'utf8');

const PRODUCTION = 'animal-store-production';
const production = () => cloudflare().find(PRODUCTION);
const served = () => production().deployments.at(-1)?.versions;
const shares = () =>
  production().deployments.map(({ versions }) => versions.map((each) => each.percentage).join('/'));
/** That of the seed. */
const oldVersion = () => toAll(production().versions[0]?.id);

/** Does something at the first call that matches. */
function at(call: RegExp, event: () => unknown, time: 'before' | 'after' = 'before') {
  let isDone = false;
  cloudflare().state[time] = (line) => {
    if (isDone || !call.test(line)) return undefined;
    isDone = true;
    const answer = event();
    return answer instanceof Response ? answer : undefined;
  };
}

/** Does something at the test of the new version when it has all requests. */
const at100 = (event: () => unknown) => at(DEPLOY_100, () => at(/GET \/pets 100%/, event));

/** After a failed promotion, the old version has all requests, and nothing else is claimed. */
function expectOld(output: string) {
  const { id } = production().versions[0] ?? {};
  if (output.includes('failed: '))
    expect(output).toMatch(new RegExp(`failed: production serves (\\S+@0% )?${id}@100%`));
  expect(served()).toEqual(expect.arrayContaining(oldVersion()));
}

test('a release to staging serves HEAD to all', async () => {
  expect(await run('node ops/release.ts staging')).toMatch(/staging serves \S+ to all\.\n$/);
  const { versions, deployments } = cloudflare().find('animal-store-staging');
  const version = versions.at(-1);
  expect(version?.annotations['workers/tag']).toBe(clone().first);
  expect(deployments.at(-1)?.versions).toEqual(toAll(version?.id));
});

test('a promotion serves the new version to 0 and 100 %, packs the client, and names the way back', async () => {
  write('public/client-0.9.0.tgz', 'of an older commit');
  write('public/client-1.0.0.tgz', 'of another commit');
  const output = await run(PROMOTE);
  expect(shares()).toEqual(['100', '0/100', '100']);
  const [old, next] = production().versions.map(({ id }) => id);
  expect(output).toContain(`production serves ${next} to all.`);
  expect(output).toContain(`npx wrangler rollback ${old} --env production`);
  expect(output).toContain('restore DB --bookmark a-bookmark --env production');
  expect(globSync('client-*', { cwd: path('public') })).toEqual(['client-1.0.0.tgz']);
  expect(read('public/client-1.0.0.tgz').length).toBeGreaterThan(1000);
});

test('a dry run changes nothing, and shows no control characters of others', async () => {
  tag('production', clone().first);
  clone().git('commit', '--allow-empty', '-qm', 'Fix\r\u001b[1A\u202E');
  tag('staging', clone().git('rev-parse', 'HEAD').trim());
  const output = await run('node ops/release.ts promote --dry-run');
  expect(output).toMatch(/^> \w+ Fix\uFFFD\uFFFD\[1A\uFFFD$/m);
  expect(production().versions).toHaveLength(1);
});

function tag(environment: string, commit: string) {
  const [version] = cloudflare().find(`animal-store-${environment}`).versions;
  Object.assign(version ?? {}, { annotations: { 'workers/tag': commit } });
}

test.each<[string, () => void, string, object?]>([
  ['an ignored file', () => write('public/dump.log', ''), 'commit or remove first'],
  ['a file that is not committed', () => write('src/new.ts', ''), 'commit or remove first'],
  ['other packages', () => replace('package-lock.json', '"4.13.19"', '"4.13.18"'), 'run npm ci'],
  ['a commit that staging does not serve', () => tag('staging', 'x'), 'serves the commit x'],
  ['no key', () => {}, 'SMOKE_API_KEY must be', { SMOKE_API_KEY: '' }],
  ['a store that is not set up', writePlaceholder, 'production is not set up'],
  ['a host that another worker has', () => setHost('x'), 'is not a host of animal-store-prod'],
  ['a host that no worker has', () => setHost(), 'is not a host of animal-store-production'],
  ['two versions that share the requests', deployHalf, 'two versions share the requests'],
  [
    'a served version that fails',
    () => at(/GET \/pets 100%/, fault),
    'docs/operations.md#roll-back',
  ],
])('a promotion with %s changes nothing', async (_, prepare, message, variables) => {
  prepare();
  expect(await run(PROMOTE, 1, variables)).toContain(message);
  expect(production().versions).toHaveLength(1);
});

function replace(file: string, from: string, to: string) {
  write(file, read(file).replaceAll(from, to));
}

function setHost(worker = '') {
  cloudflare().hosts.set('api.animal-store.test', worker);
}

function writePlaceholder() {
  replace('wrangler.toml', '"production-database-1"', '"production-database-id"');
  clone().git('commit', '-qam', 'Forget the database');
}

function deployHalf() {
  const halves = [...oldVersion(), ...toAll('theirs')];
  const versions = halves.map((each) => ({ ...each, percentage: 50 }));
  cloudflare().deploy(PRODUCTION, versions);
}

test.each(['DB', 'API_KEYS', 'BASE_URL', 'WRITES_STOPPED'])(
  'a promotion that changes %s is refused before the migrations',
  async (name) => {
    const [old] = production().versions;
    const others = old?.resources.bindings.filter((each) => each.name !== name) ?? [];
    Object.assign(old?.resources ?? {}, {
      bindings: [...others, { name, type: 'plain_text', text: 'other' }],
    });
    expect(await run(PROMOTE, 1)).toContain(`the served version has another ${name}`);
    expect(tables()).not.toContain('a');
    expect(shares()).toEqual(['100']);
  },
);

/** Of production's database. */
function tables() {
  const { sqlite } = cloudflare().databases[1] ?? {};
  return sqlite
    ?.prepare('SELECT name FROM sqlite_schema')
    .all()
    .map(({ name }) => name);
}

test.each([
  ['the upload', /POST \S+\/versions /],
  ['a migration', /INSERT INTO/],
  ['the deployment at 0 %', /POST \S+deployments .*"percentage":0\b/],
  ['the test at 0 %', AT_0],
  ['the deployment at 100 %', DEPLOY_100],
  ['a change of the routes', /PUT \S+\/domains\/records/],
])('the old version serves when %s fails, before or after its effect', async (_, call) => {
  at(call, fault);
  expectOld(await run(PROMOTE, 1));
  cloudflare().state.before = () => undefined;
  // What clients read has no effect.
  if (call === AT_0) return;
  at(call, fault, 'after');
  expectOld(await run(PROMOTE, 1));
});

test('a promotion goes back before it changes routes when the test at 100 % fails', async () => {
  at100(fault);
  const output = await run(PROMOTE, 1);
  expectOld(output);
  expect(shares()).toEqual(['100', '0/100', '100', '100']);
  expect(output).not.toContain('triggers');
});

test('a promotion goes back, and attaches no host, if the worker has lost its host', async () => {
  at(DEPLOY_100, () => at(/GET \S+\/workers\/domains/, () => ok([])));
  const output = await run(PROMOTE, 1);
  expect(output).toContain('is not a host of animal-store-production');
  expectOld(output);
});

test('a promotion stops when any key is accepted', async () => {
  at(AT_0, () => Response.json([]));
  expectOld(await run(PROMOTE, 1));
});

test('a version is tested after five answers of it in a row', async () => {
  let answers = 0;
  cloudflare().state.before = (line) => {
    if (line === 'GET /health 0%') answers += 1;
    return answers === 2 && line === 'GET /health 0%' ? Response.json({}) : undefined;
  };
  await run('node ops/release.ts staging');
  expect(answers).toBe(7);
});

test('the way back is tried until a block of five minutes is over, and overcomes changed secrets', async () => {
  at100(() => {
    cloudflare().state.hasChangedSecrets = true;
    // A minute lasts three seconds.
    const end = Date.now() + 15_000;
    cloudflare().state.before = (line) =>
      Date.now() < end && /\/accounts\//.test(line)
        ? error(429, 971, 'Rate limit').getResponse()
        : undefined;
    return fault();
  });
  expectOld(await run(PROMOTE, 1));
  expect(shares()).toEqual(['100', '0/100', '100', '100']);
});

test('a deployment at 100 % that takes effect late, during the way back, is undone', async () => {
  at(DEPLOY_100, () => {
    const late = () => cloudflare().deploy(PRODUCTION, toAll(production().versions[1]?.id));
    at(/GET \S+deployments /, late, 'after');
    return fault();
  });
  expectOld(await run(PROMOTE, 1));
  expect(shares()).toEqual(['100', '0/100', '100', '100']);
});

test('a migration that D1 refuses in a successful response ends a promotion', async () => {
  at(/INSERT INTO/, () => ok([{ results: [], success: false }]));
  expect(await run(PROMOTE, 1)).toContain('migrations failed: 9999_new.sql');
  expect(shares()).toEqual(['100']);
});

test.each([
  ['at 0 %', (event: () => void) => at(AT_0, event)],
  ['at 100 %', at100],
  ['while the routes change', (event: () => void) => at(/PUT \S+\/domains\/records/, event)],
])('Ctrl-C %s, repeated for up to seven seconds, ends with the old version', async (_, when) => {
  const { process: child, exited } = start(PROMOTE);
  when(async () => {
    for (let times = 0; times < 10 && child.exitCode === null; times += 1) {
      process.kill(-(child.pid ?? 0), 'SIGINT');
      await pause(700);
    }
  });
  const { code, stdout, stderr } = await exited;
  expect([code, stderr]).toEqual([1, expect.stringContaining('Interrupted.')]);
  expectOld(stdout + stderr);
});

test('Ctrl-C at the question changes nothing', async () => {
  await typeIn('node ops/release.ts promote', '\u0003');
  expect(production().versions).toHaveLength(1);
});

test('a promotion ends at 0 % when another commit is checked out', async () => {
  at(AT_0, () => clone().git('commit', '--allow-empty', '-qm', 'Other'));
  expectOld(await run(PROMOTE, 1));
  expect(shares()).toEqual(['100', '0/100']);
});

test('the way back does not follow an edited wrangler.toml, and can be copied', async () => {
  at100(() => {
    replace('wrangler.toml', '-production"', '-other"');
    return fault();
  });
  const output = await run(PROMOTE, 1);
  expect(output).toContain('error: restore wrangler.toml');
  expect(output).toMatch(/could not confirm what production serves. Run: npx wrangler rollback /);
  expect(shares()).toEqual(['100', '0/100', '100']);
});

test.each([
  ['deploys or changes a secret', () => 'theirs'],
  ['rolls back', () => oldVersion()[0]?.version_id],
])('a promotion leaves it when somebody else %s', async (_, version) => {
  let theirs: unknown;
  at(AT_0, () => {
    theirs = cloudflare().deploy(PRODUCTION, toAll(version()));
  });
  const output = await run(PROMOTE, 1);
  expect(output).toContain('somebody else deployed');
  expect(output).toContain(`failed: production serves ${version()}@100%`);
  expect(production().deployments.at(-1)).toBe(theirs);
});

test('after a promotion that was killed at 0 %, the old version serves, and the next promotion succeeds', async () => {
  const { process: child, exited } = start(PROMOTE);
  at(AT_0, () => void child.kill('SIGKILL'));
  await exited;
  expect(shares().at(-1)).toBe('0/100');
  expect(await run(PROMOTE)).toMatch(/production serves \S+ to all/);
});
