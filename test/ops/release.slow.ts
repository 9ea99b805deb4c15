/** Releases with the real wrangler, against a fake of Cloudflare. Each begins with a commit that staging serves, and a migration. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { SMOKE_KEYS, startClone } from './clone.ts';
import { answerQuery, error, toAll } from './fake-cloudflare.ts';

const { start, run, cloudflare, clone } = startClone(true);

const PROMOTE = 'node ops/release.ts promote --yes --hold 60';
const AT_10 = /GET \/pets 10%/;
/** Of one version alone. */
const DEPLOY_100 = /POST \S+deployments .*"versions":\[\{[^}]*:100\}\]/;
const fault = () => error(400, 10001, 'a fault').getResponse();
const path = (file: string) => join(clone().folder, file);
const write = (file: string, text: string) => writeFileSync(path(file), text);
const read = (file: string) => readFileSync(path(file), 'utf8');
/** In a folder that each release empties. */
const GITHUB_OUTPUT = 'dist/release/output';

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

/** A failed promotion serves the old version again, and claims nothing else. */
function expectOld(output: string) {
  expect(output).toContain('Going back: ');
  expect(output).toContain(`failed: production serves ${production().versions[0]?.id}@100%`);
  expect(served()).toEqual(oldVersion());
}

test('a release to staging serves HEAD to all', async () => {
  expect(await run('node ops/release.ts staging')).toMatch(/staging serves \S+@100% to all\.\n$/);
  const { versions, deployments } = cloudflare().find('animal-store-staging');
  const version = versions.at(-1);
  expect(version?.annotations['workers/tag']).toBe(clone().first);
  expect(deployments.at(-1)?.versions).toEqual(toAll(version?.id));
});

test('a promotion serves the new version to 0, 10 and 100 %, and names the way back', async () => {
  const ids = () => production().versions.map(({ id }) => id);
  // As many, with an old bug.
  cloudflare().state.log = () =>
    ids().flatMap((id) => [
      [id, 200, 90],
      [id, 500, 10],
    ]);
  const output = await run(PROMOTE, 0, { GITHUB_OUTPUT });
  expect(shares()).toEqual(['100', '0/100', '10/90', '100']);
  const [old, next] = ids();
  expect(output).toContain(`production serves ${next}@100% to all.`);
  expect(output).toContain('5xx / requests: new 10 / 100, old 10 / 100');
  expect(output).toContain('restore DB --bookmark a-bookmark --env production');
  expect(read(GITHUB_OUTPUT)).toBe(`old=${old}\nnext=${next}\n`);
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

const NO_TOKEN = {
  CLOUDFLARE_API_TOKEN: '',
  CLOUDFLARE_API_KEY: 'a-global-key',
  CLOUDFLARE_EMAIL: 'b@c',
};

test.each<[string, () => void, string, object?]>([
  ['an ignored file', () => write('public/dump.log', ''), 'commit or remove first'],
  ['a file that is not committed', () => write('src/new.ts', ''), 'commit or remove first'],
  ['a commit that staging does not serve', () => tag('staging', 'x'), 'serves the commit x'],
  ['no key', () => {}, 'SMOKE_API_KEY must be', { SMOKE_API_KEY: '' }],
  ['nobody who watches', () => {}, 'nobody would watch', NO_TOKEN],
  ['a token that may not read the log', () => at(/telemetry/, fault), 'telemetry/query: 400'],
  ['a store that is not set up', writePlaceholder, 'production is not set up'],
])('a promotion with %s changes nothing', async (_, prepare, message, variables) => {
  prepare();
  expect(await run(PROMOTE, 1, variables)).toContain(message);
  expect(production().versions).toHaveLength(1);
});

function writePlaceholder() {
  write(
    'wrangler.toml',
    read('wrangler.toml').replace('"production-database-1"', '"production-database-id"'),
  );
  clone().git('commit', '-qam', 'Forget the database');
}

test.each(['DB', 'API_KEYS', 'BASE_URL', 'WRITES_STOPPED'])(
  'a promotion that changes %s is refused before the migrations',
  async (name) => {
    const [old] = production().versions;
    const others = old?.resources.bindings.filter((each) => each.name !== name) ?? [];
    Object.assign(old?.resources ?? {}, { bindings: [...others, { name, text: 'other' }] });
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
  ['the test at 0 %', /GET \/pets 0%/],
  ['the deployment at 10 %', /POST \S+deployments .*"percentage":10\b/],
  ['the test at 10 %', AT_10],
  ['the log', /telemetry.*"from":(?!(\d+),"to":\1)/],
  ['the deployment at 100 %', DEPLOY_100],
  ['a change of the routes', /PUT \S+\/domains\/records/],
])('a promotion goes back when %s fails, before or after its effect', async (_, call) => {
  at(call, fault);
  expectOld(await run(PROMOTE, 1));
  cloudflare().state.before = () => undefined;
  // What clients and the log read has no effect.
  if (/GET|telemetry/.test(call.source)) return;
  at(call, fault, 'after');
  expectOld(await run(PROMOTE, 1));
});

test('a promotion goes back before it changes routes when the test at 100 % fails', async () => {
  at(DEPLOY_100, () => at(/GET \/pets 100%/, fault));
  const output = await run(PROMOTE, 1);
  expectOld(output);
  expect(output).not.toContain('triggers');
});

test('a promotion goes back when any key is accepted', async () => {
  at(AT_10, () => Response.json([]));
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

test('the way back is tried again when it fails, and overcomes changed secrets', async () => {
  at(AT_10, () => {
    cloudflare().state.hasChangedSecrets = true;
    at(/POST \S+deployments /, fault, 'after');
    return fault();
  });
  expectOld(await run(PROMOTE, 1));
  expect(shares()).toEqual(['100', '0/100', '10/90', '100']);
});

test.each([
  ['at 0 %', /POST \S+deployments .*"percentage":0\b/, /GET \S+deployments /, 0],
  ['at 100 %', DEPLOY_100, /POST \S+deployments /, 100],
])('a deployment %s that takes effect late, during the way back, is undone', async (...each) => {
  const [, call, late, percentage] = each;
  at(call, () => {
    const next = { version_id: `${production().versions[1]?.id}`, percentage };
    const versions = [next, ...oldVersion().slice(percentage / 100)];
    at(late, () => cloudflare().deploy(PRODUCTION, versions), 'after');
    return fault();
  });
  expectOld(await run(PROMOTE, 1));
  expect(production().deployments.at(-2)?.versions[0]?.percentage).toBe(percentage);
});

test('a migration that D1 refuses in a successful response ends a promotion', async () => {
  at(/INSERT INTO/, () => answerQuery(false));
  const output = await run(PROMOTE, 1);
  expect(output).toContain('migrations failed: 9999_new.sql');
  expectOld(output);
});

test.each([
  ['at 10 %', AT_10],
  ['while the routes change', /PUT \S+\/domains\/records/],
])('Ctrl-C %s ends with the old version', async (_, call) => {
  const { process: child, exited } = start(PROMOTE);
  at(call, () => process.kill(-(child.pid ?? 0), 'SIGINT'));
  const { code, stdout, stderr } = await exited;
  expect([code, stderr]).toEqual([1, expect.stringContaining('interrupted')]);
  expectOld(stdout + stderr);
});

test('SIGTERM during the checks changes nothing', async () => {
  const { process: child, exited } = start(PROMOTE);
  at(/GET/, () => child.kill('SIGTERM'));
  expect(await exited).toMatchObject({ code: 1, stderr: 'error: interrupted\n' });
  expect(production().versions).toHaveLength(1);
});

test('Ctrl-C every 0.7 s from 10 % on ends with the old version', async () => {
  const { process: child, exited } = start(PROMOTE);
  let timer: NodeJS.Timeout | undefined;
  at(AT_10, () => {
    timer = setInterval(() => process.kill(-(child.pid ?? 0), 'SIGINT'), 700);
  });
  child.once('exit', () => clearInterval(timer));
  const { code, stdout, stderr } = await exited;
  expect([code, timer]).toEqual([1, expect.anything()]);
  expectOld(stdout + stderr);
});

/** Runs a command on a terminal, and types an answer to each question. Some shells that do not `exec` it end with 130 after Ctrl-C. */
async function typeIn(line: string, answers: string[], variables = {}) {
  const env = { ...process.env, ...cloudflare().env, SMOKE_API_KEY: SMOKE_KEYS.production };
  const terminal = spawn('script', ['-qec', `exec ${line}`, '/dev/null'], {
    cwd: clone().folder,
    env: { ...env, ...variables },
  });
  let output = '';
  terminal.stdout.on('data', (chunk) => {
    output += chunk;
    if (String(chunk).includes('[y/N]'))
      setTimeout(() => terminal.stdin.write(answers.shift()), 300);
  });
  const [code] = await once(terminal, 'close');
  return { code, output };
}

test('without a token, somebody at a terminal decides at 10 %', async () => {
  const { code, output } = await typeIn('node ops/release.ts promote', ['y\n', 'n\n'], NO_TOKEN);
  expect([code, shares()]).toEqual([1, ['100', '0/100', '10/90', '100']]);
  expectOld(output);
});

test('Ctrl-C at the question changes nothing', async () => {
  const { code } = await typeIn('node ops/release.ts promote', ['\u0003']);
  expect([code, production().versions.length]).toEqual([1, 1]);
});

test.each<[string, () => void]>([
  ['wrangler.toml is edited', () => write('wrangler.toml', 'name = "other"')],
  ['another commit is checked out', () => clone().git('commit', '--allow-empty', '-qm', 'Other')],
])('a promotion goes back when %s during the hold', async (_, event) => {
  at(AT_10, event);
  expectOld(await run(PROMOTE, 1));
  expect(shares()).toEqual(['100', '0/100', '10/90', '100']);
});

test.each([
  ['deploys or changes a secret', () => 'theirs'],
  ['gives the new version all requests', () => `${production().versions.at(-1)?.id}`],
])('a promotion leaves it when somebody else %s', async (_, version) => {
  let theirs: unknown;
  at(AT_10, () => {
    theirs = cloudflare().deploy(PRODUCTION, toAll(version()));
  });
  const output = await run(PROMOTE, 1, { GITHUB_OUTPUT });
  expect(output).toContain(`failed: production serves ${version()}@100%`);
  expect(production().deployments.at(-1)).toBe(theirs);
  // Otherwise, release.yml would go back.
  expect(read(GITHUB_OUTPUT)).toMatch(/\nold=\n$/);
});

test('5xx of the new version alone end the hold', async () => {
  cloudflare().state.log = () => [[`${production().versions.at(-1)?.id}`, 503, 3]];
  const output = await run(PROMOTE, 1);
  expect(output).toContain('5xx / requests: new 3 / 3, old 0 / 0');
  expectOld(output);
});

test('a promotion says that the log has no request of the new version', async () => {
  expect(await run(PROMOTE)).toContain('No request of the new version was logged.');
});

test('a killed promotion is undone by the command that it printed', async () => {
  const { process: child, output, exited } = start(PROMOTE);
  at(AT_10, () => void child.kill('SIGKILL'));
  await exited;
  expect(shares().at(-1)).toBe('10/90');
  expect(await run(PROMOTE, 1)).toContain('a release is unfinished');
  await run(/npx wrangler rollback .*/.exec(output.stdout)?.[0] ?? '');
  expect(served()).toEqual(oldVersion());
});
