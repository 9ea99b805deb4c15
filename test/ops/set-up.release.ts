/** A fresh clone that is set up with the real wrangler, against a fake of Cloudflare's API, and what works in it then. Needs sh and curl. */
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { convertV4MiniflareOptions, Miniflare } from 'miniflare';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { unstable_splitSqlQuery as splitSql } from 'wrangler';
import { type Clone, cloneProject } from '../support/clone.ts';
import { ACCOUNT, type Cloudflare, startCloudflare } from '../support/fake-cloudflare.ts';

const STAGING = 'animal-store-staging';

let account: Cloudflare;
let clone: Clone;

beforeEach(async () => {
  account = await startCloudflare();
  onTestFinished(account.close);
  clone = await cloneProject(account);
  onTestFinished(clone.remove);
});

/** Serves the deployed version, with the account's rows and keys, over https. Returns its port. */
async function serve(): Promise<number> {
  const [version] = account.find(STAGING).versions;
  if (!version) throw new Error('no version was deployed');
  const { id, code, resources } = version;
  const texts = resources.bindings.map(({ name, text = '' }) => [name, text]);
  const simple = { limit: 100, period: 10 as const };
  const runtime = new Miniflare(
    convertV4MiniflareOptions({
      https: true,
      modules: [{ type: 'ESModule', path: 'index.js', contents: code }],
      compatibilityDate: '2026-11-17',
      bindings: { ...Object.fromEntries(texts), CF_VERSION_METADATA: { id } },
      d1Databases: ['DB'],
      kvNamespaces: ['API_KEYS'],
      ratelimits: {
        RATE_LIMITER: { namespace_id: '1', simple },
        WRITE_RATE_LIMITER: { namespace_id: '2', simple },
      },
    }),
  );
  onTestFinished(() => runtime.dispose());
  const database = await runtime.getD1Database('DB');
  const sql = account.databases.flatMap((each) => each.sql).flatMap(splitSql);
  for (const statement of sql) await database.prepare(statement).run();
  const keys = await runtime.getKVNamespace('API_KEYS');
  for (const { values } of account.namespaces)
    for (const [name, value] of values) await keys.put(name, value);
  return Number((await runtime.ready).port);
}

test('the block of the README leads from a fresh clone to a first answer', async () => {
  const [, section = ''] = readFileSync('README.md', 'utf8').split('## Deploy it to your own');
  const [, block = ''] = /```sh\n(.*?)```/s.exec(section) ?? [];
  const [login, ...lines] = block.trimEnd().split(' &&\n');
  const curl = lines.pop();
  // It opens a browser. Here a token is set.
  expect(login).toBe('npx wrangler login');
  const setUp = lines.join(' && ').replace('-- staging', '-- staging --yes');
  const printed = await clone.run(`${setUp} && echo "STORE=$STORE KEY=$KEY"`);
  const [, assignments = ''] = /^(STORE=\S+ KEY=\S+)$/m.exec(printed) ?? [];
  expect(await clone.run('git status --porcelain')).toBe('');
  // In place of the DNS and the certificate of workers.dev.
  const curlrc = `insecure\nconnect-to = "::127.0.0.1:${await serve()}"\n`;
  writeFileSync(clone.path('.wrangler/.curlrc'), curlrc);
  const answer = await clone.run(`${assignments}\n${curl}`, { CURL_HOME: clone.path('.wrangler') });
  expect(assignments).toContain(`STORE=https://${STAGING}.anna.workers.dev/v1 `);
  expect(answer).toMatch(/^HTTP\/\S+ 200[\s\S]*\[\]$/);
});

test('the checks, and the tests that read wrangler.toml, pass after a set-up, too', async () => {
  const tests = globSync('test/**/*.test.ts', { cwd: clone.path('.') }).filter((file) =>
    readFileSync(clone.path(file), 'utf8').includes('wrangler.toml'),
  );
  expect(tests).toContain('test/config/environments.test.ts');
  // It reads every file.
  tests.push('test/ops/rename.test.ts');
  await clone.run('npm run provision -- staging --yes');
  clone.editConfig('api.animal-store.example', 'api.animals.test');
  await clone.run('npm run provision -- production --yes');
  expectServed('staging', `${STAGING}.anna.workers.dev`);
  expectServed('production', 'api.animals.test');
  expect(account.hosts).toEqual(new Map([['api.animals.test', 'animal-store-production']]));
  expect(account.atWorkersDev).toEqual(new Set([STAGING]));
  await clone.run(`npm run check; npx vitest run --project test ${tests.join(' ')}`);
});

/** The commands of docs/set-up.md for an environment: those that print ids, and those after them. */
function readCommands(environment: string): string[][] {
  const page = readFileSync('docs/set-up.md', 'utf8');
  const blocks = Array.from(page.matchAll(/```sh\n(.*?)```/gs), ([, block = '']) => block);
  const ofEnvironment = blocks.filter((block) => block.includes(`--env ${environment}\n`));
  return ofEnvironment.map((block) => block.trim().split(/\n\s*/));
}

test.each([
  ['staging', `${STAGING}.anna.workers.dev`],
  ['production', 'api.animals.test'],
])('docs/set-up.md sets %s up by hand', async (environment, host) => {
  const [creates = [], others = []] = readCommands(environment);
  clone.editConfig(`${environment}-account-id`, ACCOUNT);
  const isAtWorkersDev = host.endsWith('.workers.dev');
  if (isAtWorkersDev) clone.editConfig(/^routes = .*"staging\..*$/gm, 'workers_dev = true');
  clone.editConfig(
    isAtWorkersDev ? 'staging.api.animal-store.example' : 'api.animal-store.example',
    host,
  );
  for (const [i, placeholder] of ['database', 'api-keys'].entries()) {
    const [, id = ''] = /id = "([\w-]+)"/.exec(await clone.run(creates[i] ?? 'false')) ?? [];
    clone.editConfig(`${environment}-${placeholder}-id`, id);
  }
  for (const line of others) expect(await clone.run(line)).not.toContain('❌');
  expectServed(environment, host);
  expect(await clone.run('npm run openapi:check')).toContain('up to date');
});

/** The worker has one version, with this address, and a database and a KV namespace of its own. */
function expectServed(environment: string, host: string): void {
  const { versions } = account.find(`animal-store-${environment}`);
  expect(versions).toHaveLength(1);
  const database = account.databases.find(({ name }) => name === `animal-store-${environment}`);
  const title = `${environment}-animal-store-api-keys`;
  const namespace = account.namespaces.find((each) => each.title === title);
  for (const value of [database?.uuid, namespace?.id, `https://${host}/v1`])
    expect(JSON.stringify(versions)).toContain(`"${value}"`);
  const tables = database?.sqlite.prepare('SELECT name FROM sqlite_schema').all();
  expect(tables).toEqual(expect.arrayContaining([{ name: 'pets' }, { name: 'orders' }]));
}

const LIMITS = /^\[(env\.\w+\.)?limits\]\ncpu_ms = 1000\n/gm;

test.each<[string, () => unknown, () => unknown, number]>([
  // All lines are left.
  ['the database', () => (account.state.failing = 'POST /d1/database'), () => {}, 7],
  ['a migration', () => (account.state.failsMigrations = true), () => {}, 2],
  ['the Free plan', () => (account.state.isFree = true), () => clone.editConfig(LIMITS, ''), 1],
])('after a stop at %s, the lines that are printed end the set-up', async (_, fail, fix, count) => {
  fail();
  const { stdout, stderr } = await clone.start('npm run provision -- staging --yes');
  expect([stdout.includes('https'), account.workers.size]).toEqual([false, 0]);
  const [, text = ''] = /Left to do.*\n([\s\S]*)error: /.exec(stderr) ?? [];
  const lines = text.trim().split('\n');
  expect(lines, stderr).toHaveLength(count);
  Object.assign(account.state, { failing: undefined, failsMigrations: false });
  await fix();
  let printed = '';
  for (const line of lines) {
    const [, placeholder] = /replace (\S+) by the id$/.exec(line) ?? [];
    const [, id = ''] = /id = "([\w-]+)"/.exec(printed) ?? [];
    if (placeholder) clone.editConfig(placeholder, id);
    else printed = await clone.run(line);
  }
  expectServed('staging', `${STAGING}.anna.workers.dev`);
  expect([account.databases.length, account.namespaces.length]).toEqual([1, 1]);
  expect(await clone.run('npm run openapi:check')).toContain('up to date');
});

test('without a login, the command says how to log in', async () => {
  const home = clone.path('.wrangler');
  const settings = { CLOUDFLARE_API_TOKEN: '', HOME: home, XDG_CONFIG_HOME: home };
  const { stderr } = await clone.start('npm run provision -- staging', settings);
  expect(stderr).toMatch(/^error: wrangler: Not logged in\. .*`wrangler login`.*$/m);
  expect(account.calls).toEqual([]);
});
