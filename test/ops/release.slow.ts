/**
 * Releases with the real wrangler, against a fake of Cloudflare. Each begins with a commit that
 * staging serves, and a migration.
 */
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { SMOKE_KEYS, startClone } from './clone.ts';
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

/** A promotion has failed, the old version has all requests, and nothing else is claimed. */
function expectOld(output: string, problem = 'a fault') {
  expect(output).toContain(problem);
  const { id } = production().versions[0] ?? {};
  if (shares().length > 1)
    expect(output).toMatch(
      new RegExp(`error: failed: production serves (\\S+@0% )?${id}@100%\\n$`),
    );
  expect(served()).toEqual(expect.arrayContaining(oldVersion()));
}

test.each([
  ['staging', 'none', ['POST /pets', 'PATCH /pets/1', 'GET /pets/1', 'DELETE /pets/1']],
  ['production', 'unknown: the served version is of no commit in this clone', []],
])('%s serves HEAD to 0 %% and to all, and each is tested', async (env, commits, writes) => {
  write('public/client-0.9.0.tgz', 'of an older commit');
  write('public/client-1.0.0.tgz', 'of another commit');
  const lines: string[] = [];
  cloudflare().state.before = (line) => {
    if (line.endsWith('%') && !line.startsWith('GET /health')) lines.push(line);
    return undefined;
  };
  const output = await run(env === 'staging' ? 'node ops/release.ts staging' : PROMOTE);
  const reads = (share: number) => Array(2).fill(`GET /pets ${share}%`);
  const at0 = [...reads(0), ...writes.map((line) => `${line} 0%`)];
  expect(lines).toEqual([...reads(100), ...at0, ...reads(100), ...reads(100)]);
  const { versions, deployments } = cloudflare().find(`animal-store-${env}`);
  const [old = '', next = ''] = versions.map(({ id }) => id);
  expect(deployments.map((each) => each.versions)).toEqual([
    toAll(old),
    [{ version_id: next, percentage: 0 }, ...toAll(old)],
    toAll(next),
  ]);
  const { first } = clone();
  expect(versions[1]?.annotations['workers/tag']).toBe(first);
  const place = `--env ${env} --config wrangler.toml`;
  expect(output).toBe(`${env} serves version ${old}. Commits that it gets (>) or loses (<):
${commits}
Migrations to apply: 9999_new.sql
To serve again what is served now: npx wrangler rollback ${old} ${place}
wrangler versions upload --tag ${first} --strict
To restore the data: npx wrangler d1 time-travel restore DB --bookmark a-bookmark ${place}
wrangler d1 migrations apply DB --remote
wrangler versions deploy ${next}@0% ${old}@100% --yes
wrangler versions deploy ${next}@100% --yes
wrangler triggers deploy
${env} serves ${next} to all.
`);
  expect(globSync('client-*', { cwd: path('public') })).toEqual(['client-1.0.0.tgz']);
  expect(read('public/client-1.0.0.tgz').length).toBeGreaterThan(1000);
});

test('a dry run changes nothing, and shows no control characters of others', async () => {
  const { git, first } = clone();
  const commit = (message: string) => {
    git('add', '--all');
    git('commit', '--allow-empty', '-qm', message);
    return git('rev-parse', 'HEAD').trim();
  };
  tag('production', commit('Lost'));
  git('reset', '--quiet', '--hard', first);
  write('migrations/9999_new\u202E.sql', '');
  tag('staging', commit('Fix\r\u001b[1A\u202E'));
  const output = await run('node ops/release.ts promote --dry-run');
  expect(output).toMatch(/^> \w+ Fix\uFFFD\uFFFD\[1A\uFFFD$/m);
  expect(output).toMatch(/^< \w+ Lost$/m);
  expect(output).toContain('\nMigrations to apply: 9999_new.sql, 9999_new\uFFFD.sql\n');
  expect(production().versions).toHaveLength(1);
});

function tag(environment: string, commit: string) {
  const [version] = cloudflare().find(`animal-store-${environment}`).versions;
  Object.assign(version ?? {}, { annotations: { 'workers/tag': commit } });
}

const ELSEWHERE =
  'api.animal-store.test is not a host of animal-store-production: docs/set-up.md#a-host-of-your-own';
const UNINSTALLED = 'run npm ci: package-lock.json has another node_modules/hono';

test.each<[string, () => void, string, object?]>([
  ['ignored files', writeIgnored, 'remove first: migrations/a.log public/a.log src/a.log'],
  ['a file that is not committed', () => write('src/new.ts', ''), 'remove first: ?? src/new.ts'],
  ['another package', () => replace('package-lock.json', '"4.13.19"', '"4.13.18"'), UNINSTALLED],
  [
    'one more package',
    () => replace('package-lock.json', '"node_modules/hono"', '""'),
    UNINSTALLED,
  ],
  ['a commit that staging does not serve', () => tag('staging', 'x'), 'serves the commit x, not '],
  [
    "staging's key",
    () => {},
    'SMOKE_API_KEY must be an API key of production: docs/operations.md#release',
    { SMOKE_API_KEY: SMOKE_KEYS.staging },
  ],
  ['a store that is not set up', writePlaceholder, 'production is not set up. See docs/set-up.md'],
  ['a host that another worker has', () => setHost('x'), ELSEWHERE],
  ['a host that no worker has', () => setHost(), ELSEWHERE],
  ['two versions that share the requests', deployHalf, 'two versions share the requests: prod'],
  [
    'a served version that fails',
    () => at(/GET \/pets 100%/, fault),
    'the served version fails its test: docs/operations.md#roll-back (GET /pets: 400, not 401: ',
  ],
])('a promotion with %s changes nothing', async (_, prepare, message, variables) => {
  prepare();
  expect(await run(PROMOTE, 1, variables)).toContain(message);
  expect(production().versions).toHaveLength(1);
});

function writeIgnored() {
  for (const folder of ['src', 'public', 'migrations']) write(`${folder}/a.log`, '');
}

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
    for (const { resources } of production().versions) {
      const others = resources.bindings.filter((each) => each.name !== name);
      resources.bindings = [...others, { name, type: 'plain_text', text: 'other' }];
    }
    expect(await run(PROMOTE, 1)).toContain(
      `the served version has another ${name}: docs/operations.md#release\n`,
    );
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

test('a promotion goes back, and attaches no host, if the worker has lost its host', async () => {
  at(DEPLOY_100, () => at(/GET \S+\/workers\/domains/, () => ok([])));
  const output = await run(PROMOTE, 1);
  expectOld(output, ELSEWHERE);
});

test('after a failed test at 100 %, the way back outlasts a block of five minutes and changed secrets', async () => {
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
  const output = await run(PROMOTE, 1);
  expectOld(output);
  expect(output).not.toContain('triggers');
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
  expectOld(await run(PROMOTE, 1), 'migrations failed: 9999_new.sql\n');
  expect(shares()).toEqual(['100']);
});

test.each([
  ['SIGINT', 'at 0 %', (event: () => void) => at(AT_0, event)],
  ['SIGTERM', 'at 100 %', at100],
  [
    'SIGHUP',
    'while the routes change',
    (event: () => void) => at(/PUT \S+\/domains\/records/, event),
  ],
])(
  '%s %s, repeated for up to seven seconds, ends with the old version',
  async (signal, _, when) => {
    const { process: child, exited } = start(PROMOTE);
    when(async () => {
      for (let times = 0; times < 10 && child.exitCode === null; times += 1) {
        process.kill(-(child.pid ?? 0), signal);
        await pause(700);
      }
    });
    const { code, stdout, stderr } = await exited;
    expect(code).toBe(1);
    expectOld(stdout + stderr, 'Interrupted.\n');
  },
);

test('Ctrl-C at the question changes nothing', async () => {
  await typeIn('node ops/release.ts promote', '\u0003');
  expect(production().versions).toHaveLength(1);
});

test('a promotion ends at 0 % when another commit is checked out', async () => {
  at(AT_0, () => clone().git('commit', '--allow-empty', '-qm', 'Other'));
  expectOld(await run(PROMOTE, 1), 'error: another commit was checked out\n');
  expect(shares()).toEqual(['100', '0/100']);
});

test('the way back does not follow an edited wrangler.toml, and can be copied', async () => {
  at100(() => {
    replace('wrangler.toml', '-production"', '-other"');
    return fault();
  });
  const output = await run(PROMOTE, 1);
  const rollback = `npx wrangler rollback ${production().versions[0]?.id}`;
  const command = `${rollback} --env production --config wrangler.toml`;
  expect(output).toContain('error: restore wrangler.toml\n');
  expect(output).toContain(`error: could not confirm what production serves. Run: ${command}\n`);
  expect(shares()).toEqual(['100', '0/100', '100']);
});

test.each([
  ['deploys or changes a secret', AT_0, () => 'theirs'],
  ['deploys during the upload', /POST \S+\/versions /, () => 'theirs'],
  ['rolls back', AT_0, () => oldVersion()[0]?.version_id],
])('a promotion leaves it when somebody else %s', async (_, call, version) => {
  let theirs: unknown;
  at(call, () => {
    theirs = cloudflare().deploy(PRODUCTION, toAll(version()));
  });
  const output = await run(PROMOTE, 1);
  expect(output).toContain(`error: somebody else deployed ${version()}@100%\n`);
  expect(output).toContain(`error: failed: production serves ${version()}@100%\n`);
  expect(production().deployments.at(-1)).toBe(theirs);
});

test('after a promotion that was killed at 0 %, the old version serves, and the next promotion succeeds', async () => {
  const { process: child, exited } = start(PROMOTE);
  at(AT_0, () => void child.kill('SIGKILL'));
  await exited;
  expect(shares().at(-1)).toBe('0/100');
  expect(await run(PROMOTE)).toMatch(/production serves \S+ to all/);
});
