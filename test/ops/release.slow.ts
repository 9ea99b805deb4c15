/**
 * Releases with the real wrangler, against a fake of Cloudflare. Each begins with a commit that
 * staging serves, and a migration.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { SMOKE_KEYS, startClone } from './clone.ts';
import { fail, ok, toAll } from './fake-cloudflare.ts';

const { start, run, path, cloudflare, git, first } = await startClone(true);

const PROMOTE = 'node ops/release.ts promote --yes';
const UPLOAD = '/versions ';
const AT_0 = 'GET /pets 0%';
const ROUTES = '/domains/records';
/** That of one version alone. */
const DEPLOY_100 = /:\[\{[^}]*:100\}\]/;
const fault = () => fail(400, 10001, 'a fault');
const write = (file: string, text: string) => writeFileSync(path(file), text);
const read = (file: string) => readFileSync(path(file), 'utf8');

const PRODUCTION = 'animal-store-production';
const production = () => cloudflare.find(PRODUCTION);
const shares = () =>
  production().deployments.map(({ versions }) => versions.map((each) => each.percentage).join('/'));
/** That of the seed. */
const oldId = () => production().versions[0]?.id;

/** Does something at the first call that matches. */
function at(call: string | RegExp, event: () => unknown, time: 'before' | 'after' = 'before') {
  let isDone = false;
  cloudflare.state[time] = (line) => {
    if (isDone || !line.match(call)) return undefined;
    isDone = true;
    return event();
  };
}

/** A promotion has failed, the old version has all requests, and nothing else is claimed. */
function expectOld(output: string, problem = 'a fault') {
  expect(output).toContain(problem);
  if (shares().length > 1)
    expect(output).toMatch(
      new RegExp(`error: failed: production serves (\\S+@0% )?${oldId()}@100%\\n$`),
    );
  expect(production().deployments.at(-1)?.versions).toEqual(expect.arrayContaining(toAll(oldId())));
}

test.each([
  ['staging', 'none', ['POST /pets 0%', 'PATCH /pets/1 0%', 'GET /pets/1 0%', 'DELETE /pets/1 0%']],
  ['production', 'unknown: the served version is of no commit in this clone', []],
])('%s serves HEAD to 0 %% and to all, and each is tested', async (env, commits, writes) => {
  write('public/client-1.0.0.tgz', 'of another commit');
  const lines: string[] = [];
  cloudflare.state.before = (line) =>
    line.endsWith('%') && !line.startsWith('GET /health') && lines.push(line);
  let output = await run(env === 'staging' ? 'node ops/release.ts staging' : PROMOTE);
  const reads = (share: number) => Array(2).fill(`GET /pets ${share}%`);
  expect(lines).toEqual([...reads(100), ...reads(0), ...writes, ...reads(100), ...reads(100)]);
  const { versions, deployments } = cloudflare.find(`animal-store-${env}`);
  const [old = '', next = ''] = versions.map(({ id }) => id);
  expect(deployments.at(-1)?.versions).toEqual(toAll(next));
  for (const [name, value] of Object.entries({ ENV: env, OLD: old, NEXT: next, COMMIT: first }))
    output = output.replaceAll(value, name);
  expect(output.split('\n')).toEqual([
    'ENV serves version OLD. Commits that it gets (>) or loses (<):',
    commits,
    'Migrations to apply: 9999_new.sql',
    'To serve again what is served now: npx wrangler rollback OLD --env ENV --config wrangler.toml',
    'wrangler versions upload --tag COMMIT --strict',
    'To restore the data: npx wrangler d1 time-travel restore DB --bookmark a-bookmark --env ENV --config wrangler.toml',
    'wrangler d1 migrations apply DB --remote',
    'wrangler versions deploy NEXT@0% OLD@100% --yes',
    'wrangler versions deploy NEXT@100% --yes',
    'wrangler triggers deploy',
    'ENV serves NEXT to all.',
    '',
  ]);
  expect(read('public/client-1.0.0.tgz').length).toBeGreaterThan(1000);
});

test('a dry run, and a promotion that nobody confirms, change nothing, and show no control characters of others', async () => {
  git('commit', '--allow-empty', '-qm', 'Lost');
  git('reset', '--quiet', '--hard', first);
  tag('production', 'ORIG_HEAD');
  for (const name of ['README.md', '9999_new\u202E.sql']) write(`migrations/${name}`, '');
  git('add', '--all');
  git('commit', '-qm', 'Fix\r\u001b[1A\u202E');
  tag('staging', git('rev-parse', 'HEAD').trim());
  const output = await run('node ops/release.ts promote --dry-run');
  expect(output).toMatch(/^> \w+ Fix\uFFFD\uFFFD\[1A\uFFFD$/m);
  expect(output).toMatch(/^< \w+ Lost$/m);
  expect(output).toContain('\nMigrations to apply: 9999_new.sql, 9999_new\uFFFD.sql\n');
  const confirmation = 'confirmation required: add --yes to release commit ';
  expect(await run('node ops/release.ts promote', 1)).toContain(confirmation);
  expect(production().versions).toHaveLength(1);
});

function tag(environment: string, commit: string) {
  const [version] = cloudflare.find(`animal-store-${environment}`).versions;
  Object.assign(version ?? {}, { annotations: { 'workers/tag': commit } });
}

const HOST = 'api.animal-store.test';
const ELSEWHERE = `${HOST} is not a host of ${PRODUCTION}: docs/set-up.md#a-host-of-your-own`;
const UNINSTALLED = 'run npm ci: package-lock.json has another node_modules/hono';

test.each<[string, () => unknown, string, object?]>([
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
  ['a host of another worker', () => cloudflare.hosts.set(HOST, 'x'), ELSEWHERE],
  ['two versions that share the requests', deployHalf, 'two versions share the requests: prod'],
  [
    'a served version that fails',
    () => at('GET /pets 100%', fault),
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

function deployHalf() {
  const ids = [oldId(), 'theirs'];
  cloudflare.deploy(
    PRODUCTION,
    ids.map((version_id = '') => ({ version_id, percentage: 50 })),
  );
}

test.each(['DB', 'API_KEYS', 'BASE_URL', 'WRITES_STOPPED'])(
  'a promotion that changes %s is refused before the migrations',
  async (name) => {
    cloudflare.replaceBinding(PRODUCTION, name);
    const output = await run(PROMOTE, 1);
    expect(output).toContain(`has another ${name}: docs/operations.md#release\n`);
    expect(output).not.toContain('migrations apply');
    expect(shares()).toEqual(['100']);
  },
);

test.each([
  ['the upload', UPLOAD],
  ['a migration', 'INSERT INTO'],
  ['the deployment at 0 %', /"percentage":0\b/],
  ['the test at 0 %', AT_0],
  ['the deployment at 100 %', DEPLOY_100],
  ['a change of the routes', ROUTES],
])('the old version serves when %s fails, before or after its effect', async (_, call) => {
  at(call, fault);
  expectOld(await run(PROMOTE, 1));
  cloudflare.state.before = () => {};
  // What clients read has no effect.
  if (call === AT_0) return;
  at(call, fault, 'after');
  expectOld(await run(PROMOTE, 1));
});

test.each<[string, string | RegExp, () => unknown, string, string]>([
  [
    'D1 refuses a migration in a successful response',
    'INSERT INTO',
    () => ok([{ results: [], success: false }]),
    'migrations failed: 9999_new.sql\n',
    '100',
  ],
  [
    'another commit is checked out',
    AT_0,
    () => git('commit', '--allow-empty', '-qm', 'Other'),
    'error: another commit was checked out\n',
    '100 0/100',
  ],
  [
    'the worker loses its host, which it does not attach',
    DEPLOY_100,
    () => at('/workers/domains', () => ok([])),
    ELSEWHERE,
    '100 0/100 100 100',
  ],
  [
    'the deployment at 100 % takes effect during the way back',
    DEPLOY_100,
    deployLate,
    'a fault',
    '100 0/100 100 100',
  ],
  [
    'Cloudflare blocks the way back, and secrets change',
    DEPLOY_100,
    () => at('GET /pets 100%', block),
    'a fault',
    '100 0/100 100 100',
  ],
])('the old version serves when %s', async (_, call, event, problem, expected) => {
  at(call, event);
  const output = await run(PROMOTE, 1);
  expectOld(output, problem);
  expect(output).not.toContain('triggers');
  expect(shares().join(' ')).toBe(expected);
});

function deployLate() {
  const deploy = () => cloudflare.deploy(PRODUCTION, toAll(production().versions[1]?.id));
  at('GET .*/deployments', deploy, 'after');
  fault();
}

/** For five minutes: a minute lasts three seconds. */
function block() {
  cloudflare.state.hasChangedSecrets = true;
  const end = Date.now() + 15_000;
  cloudflare.state.before = (line) =>
    Date.now() < end && line.includes('/accounts/') && fail(429, 971, 'Rate limit');
  fault();
}

test.each([
  ['SIGINT', 'at the test at 0 %', AT_0],
  ['SIGTERM', 'at the deployment at 100 %', DEPLOY_100],
  ['SIGHUP', 'while the routes change', ROUTES],
])(
  '%s %s, repeated for up to seven seconds, ends with the old version',
  async (signal, _, call) => {
    const { process: child, exited } = start(PROMOTE);
    at(call, async () => {
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

test('the way back does not follow an edited wrangler.toml, and can be copied', async () => {
  at(ROUTES, () => {
    replace('wrangler.toml', '-production"', '-other"');
    fault();
  });
  const output = await run(PROMOTE, 1);
  const command = `npx wrangler rollback ${oldId()} --env production`;
  expect(output).toContain('error: restore wrangler.toml\n');
  expect(output).toContain(
    `could not confirm what production serves. Run: ${command} --config wrangler.toml\n`,
  );
  expect(shares()).toEqual(['100', '0/100', '100']);
});

test.each([
  ['deploys or changes a secret', AT_0, () => 'theirs'],
  ['deploys during the upload', UPLOAD, () => 'theirs'],
  ['rolls back', AT_0, oldId],
])('a promotion leaves it when somebody else %s', async (_, call, version) => {
  let theirs: unknown;
  at(call, () => {
    theirs = cloudflare.deploy(PRODUCTION, toAll(version()));
  });
  const output = await run(PROMOTE, 1);
  expect(output).toContain(`error: somebody else deployed ${version()}@100%\n`);
  expect(output).toContain(`error: failed: production serves ${version()}@100%\n`);
  expect(production().deployments.at(-1)).toBe(theirs);
});

test('after a promotion that was killed at 0 %, the old version serves, and the next promotion succeeds', async () => {
  const { process: child, exited } = start(PROMOTE);
  at(AT_0, () => child.kill('SIGKILL'));
  await exited;
  expect(shares().at(-1)).toBe('0/100');
  expect(await run(PROMOTE)).toMatch(/production serves \S+ to all/);
});
