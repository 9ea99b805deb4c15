/** `npm run provision` with the real wrangler, against a fake of Cloudflare's API. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { unstable_readConfig as readConfig } from 'wrangler';
import { hostOf } from '../../ops/host.ts';
import { WRANGLER_ENV } from '../../ops/wrangler.ts';
import { startAccount } from './fake-account.ts';
import { readPlaceholders } from './placeholders.ts';
import { copyProject } from './project.ts';

const project = copyProject();
const STAGING = 'animal-store-staging';
const HOST = 'staging.api.animals.test';
const path = (name: string) => join(project.path(), name);
const read = (env: string) => readConfig({ config: path('wrangler.toml'), env });

beforeEach(() => writeFileSync(path('wrangler.toml'), readPlaceholders()));

/** Starts an account for a test. `onAnswer`: called when a call has taken effect, before it is answered. */
async function accountFor(onAnswer?: (call: string) => unknown) {
  const account = await startAccount(onAnswer);
  onTestFinished(() => void account.close());
  return account;
}
type Account = Awaited<ReturnType<typeof accountFor>>;

const environmentOf = ({ env }: Account) => ({
  ...env,
  ...WRANGLER_ENV,
  WRANGLER_LOG_PATH: path('.wrangler/logs'),
});

const provision = (account: Account, ...args: string[]) =>
  project.run('provision.ts', args, environmentOf(account));

test('wrangler deploys one version with the database, the KV namespace and the address', async () => {
  const account = await accountFor();
  const { code, stdout, stderr } = await provision(account, 'staging');
  expect([code, stdout], stderr).toEqual([0, `https://${STAGING}.anna.workers.dev/v1\n`]);
  expect(account.atWorkersDev).toEqual(new Set([STAGING]));
  const { versions } = account.find(STAGING);
  expect(versions).toHaveLength(1);
  const [database] = account.databases;
  const tables = database?.sqlite
    .prepare("SELECT name FROM sqlite_schema WHERE type = 'table'")
    .all();
  expect(tables).toEqual(expect.arrayContaining([{ name: 'pets' }, { name: 'orders' }]));
  for (const value of [database?.uuid, account.namespaces[0]?.id, stdout.trim()])
    expect(JSON.stringify(versions[0])).toContain(`"${value}"`);

  expect(await provision(account, 'staging')).toMatchObject({ code: 0, stdout });
  expect(account.find(STAGING)).toMatchObject({ versions, deployments: [{}] });
});

test('killed after each write in turn, the command ends with one of each', async () => {
  const done = new Set<string>();
  let kill = () => {};
  const account = await accountFor((call) => {
    if (call.startsWith('GET ') || done.has(call)) return;
    done.add(call);
    kill();
  });
  let code: number | null = null;
  while (code === null) {
    const args = ['staging', '--host', HOST, '--yes'];
    const { process: child, exited } = project.start('provision.ts', args, environmentOf(account));
    kill = () => process.kill(-Number(child.pid), 'SIGKILL');
    ({ code } = await exited);
  }
  expect(code).toBe(0);
  const names = [...done].map((call) => call.replace(/\/accounts\/\w+/, ''));
  expect(names).toEqual(
    expect.arrayContaining(['POST /d1/database', `PUT /workers/scripts/${STAGING}/schedules`]),
  );
  const [database] = account.databases;
  expect([account.databases.length, account.namespaces.length]).toEqual([1, 1]);
  const applied = database?.sqlite.prepare('SELECT name FROM d1_migrations').all();
  expect(applied).toHaveLength(readdirSync(path('migrations')).length);
  const uploads = account.calls.filter(
    (call) => call.endsWith(`scripts/${STAGING}`) && call.startsWith('PUT'),
  );
  expect(uploads).toHaveLength(1);
  expect(account.find(STAGING)).toMatchObject({ versions: [{}], deployments: [{}] });
  expect(account.hosts).toEqual(new Map([[HOST, STAGING]]));
  const { account_id, d1_databases, kv_namespaces } = read('staging');
  expect([account_id, d1_databases[0]?.database_id, kv_namespaces[0]?.id]).toEqual([
    account.accounts[0]?.id,
    database?.uuid,
    account.namespaces[0]?.id,
  ]);
  expect(hostOf(read('staging'))).toBe(HOST);
});

test('a migration that D1 fails in an answer that succeeds deploys nothing', async () => {
  const account = await accountFor();
  account.failsMigrations = true;
  const { code, stderr } = await provision(account, 'staging');
  expect([code, account.workers.size]).toEqual([1, 0]);
  expect(stderr).toContain('error: a migration failed: ');
});

test('the Free plan gets its fix, after which the command goes on', async () => {
  const account = await accountFor();
  account.isFree = true;
  const text = readPlaceholders().replaceAll(/^\[(env\.\w+\.)?limits\]\n.*\n\n/gm, '');
  const limits = '\n[env.staging.limits]\ncpu_ms = 1000\n';
  writeFileSync(path('wrangler.toml'), text + limits);
  const { code, stderr } = await provision(account, 'staging');
  expect([code, account.workers.size]).toEqual([1, 0]);
  expect(stderr).toContain('Remove the three sections "limits" from wrangler.toml');
  const provisioned = readFileSync(path('wrangler.toml'), 'utf8');
  writeFileSync(path('wrangler.toml'), provisioned.replace(limits, ''));
  expect(await provision(account, 'staging')).toMatchObject({ code: 0 });
  expect(account.databases).toHaveLength(1);
});

test('without a login, the command names the one of wrangler', async () => {
  const account = await accountFor();
  account.env.CLOUDFLARE_API_TOKEN = '';
  const env = {
    ...environmentOf(account),
    HOME: path('.wrangler'),
    XDG_CONFIG_HOME: path('.wrangler'),
  };
  const { code, stderr } = await project.run('provision.ts', ['staging'], env);
  expect([code, account.calls]).toEqual([1, []]);
  expect(stderr).toMatch(/^error: wrangler: Not logged in\. .*`wrangler login`.*\n$/);
});
