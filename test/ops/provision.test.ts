/** `npm run provision` in this process, against a fake of Cloudflare's API. provision.release.ts runs the real wrangler. */
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { unstable_readConfig as readConfig } from 'wrangler';
import { hostOf } from '../../ops/host.ts';
import { ACCOUNT } from './fake-account.ts';
import { startWorld, type World } from './fake-provision.ts';
import { temporaryFolder } from './project.ts';

let world: World;
let folder: string;

beforeEach(async () => {
  folder = await temporaryFolder();
  world = await startWorld(folder);
});
afterEach(async () => {
  vi.unstubAllGlobals();
  await world.account.close();
});

const STAGING = 'animal-store-staging';
const HOST = 'staging.api.animals.test';
const AT_WORKERS_DEV = `${STAGING}.anna.workers.dev`;
const OPENAPI = '/ops/openapi.ts';
const MIGRATE = 'staging d1 migrations apply DB --remote';
const DEPLOY = 'staging deploy --no-x-provision';
const TRIGGERS = 'staging triggers deploy';

const read = (env: string) => readConfig({ config: `${folder}/wrangler.toml`, env });
const edit = (from: string | RegExp, to: string) => {
  const text = world.readConfig();
  const edited = text.replace(from, to);
  expect(edited).not.toBe(text);
  world.writeConfig(edited);
};
/** The lines of wrangler.toml that are different from before, each as it was and as it is. */
function changedLines(before: string): string[][] {
  const lines = world.readConfig().split('\n');
  expect(lines).toHaveLength(before.split('\n').length);
  const pairs = before.split('\n').map((line, i) => [line, lines[i] ?? '']);
  return pairs.filter(([was, is]) => was !== is);
}

describe('a store', () => {
  test('the command creates what is missing, and deploys the first version at workers.dev', async () => {
    const before = world.readConfig();
    const { code, stdout, stderr } = await world.provision('staging');
    expect([code, stdout]).toEqual([0, `https://${AT_WORKERS_DEV}/v1\n`]);
    expect(stderr).toContain('No test has passed this version');
    const [database] = world.account.databases;
    const [namespace] = world.account.namespaces;
    expect([database?.name, namespace?.title]).toEqual([STAGING, `${STAGING}-api-keys`]);
    expect(world.commands).toEqual([OPENAPI, MIGRATE, DEPLOY]);
    expect(changedLines(before).map(([, is]) => is)).toEqual([
      `account_id = "${ACCOUNT}"`,
      'workers_dev = true',
      `BASE_URL = "https://${AT_WORKERS_DEV}/v1"`,
      `database_id = "${database?.uuid}"`,
      `id = "${namespace?.id}"`,
    ]);
    expect(hostOf(read('staging'))).toBe(AT_WORKERS_DEV);
  });

  test('with --host it is served at that host, and not at workers.dev', async () => {
    const { code, stdout } = await world.provision(`staging --host ${HOST} --yes`);
    expect([code, stdout]).toEqual([0, `https://${HOST}/v1\n`]);
    const { routes, workers_dev } = read('staging');
    expect({ routes, workers_dev }).toEqual({
      routes: [{ pattern: HOST, custom_domain: true }],
      workers_dev: false,
    });
    expect(hostOf(read('staging'))).toBe(HOST);
    expect(world.account.hosts).toEqual(new Map([[HOST, STAGING]]));
  });

  test('run again, the command creates nothing, and deploys the triggers alone', async () => {
    await world.provision(`staging --host ${HOST} --yes`);
    const before = world.readConfig();
    world.account.calls.length = 0;
    world.commands.length = 0;
    world.account.accounts.push({ id: 'b'.repeat(32), name: 'Berta' });
    for (const line of ['staging', `staging --host ${HOST} --account ${ACCOUNT}`]) {
      const { stdout, stderr } = await world.provision(line);
      expect(stdout).toBe(`https://${HOST}/v1\n`);
      expect(stderr).toContain('A version is served already. Only its routes and crons are set.');
    }
    expect([world.created(), world.readConfig()]).toEqual([[], before]);
    expect(world.commands).toEqual([OPENAPI, TRIGGERS, OPENAPI, TRIGGERS]);
  });

  test('run again after a release, only the served version counts', async () => {
    await world.provision('staging');
    const { versions, deployments } = world.account.find(STAGING);
    versions.unshift({ id: 'older', code: '', annotations: {}, resources: { bindings: [] } });
    deployments.unshift({ id: '0', versions: [{ version_id: 'older', percentage: 100 }] });
    expect(await world.provision('staging')).toMatchObject({ code: 0 });
  });

  test('staging and production share nothing', async () => {
    await world.provision('staging');
    expect(await world.provision('production --yes')).toMatchObject({ code: 0 });
    const [staging, production] = [read('staging'), read('production')];
    expect(world.account.databases).toHaveLength(2);
    expect(world.account.namespaces).toHaveLength(2);
    expect(production.d1_databases).not.toEqual(staging.d1_databases);
    expect(production.kv_namespaces).not.toEqual(staging.kv_namespaces);
    expect(hostOf(production)).not.toBe(hostOf(staging));
  });

  test('a database and a namespace of the right names are used', async () => {
    await world.provision('staging');
    const { databases, namespaces } = world.account;
    const again = await startWorld(await temporaryFolder());
    again.account.databases.push({
      ...databases[0],
      name: `${STAGING}-2`,
      uuid: 'another',
    } as never);
    again.account.databases.push(...databases);
    again.account.namespaces.push(...namespaces);
    expect(await again.provision('staging')).toMatchObject({ code: 0 });
    expect([again.created(), again.account.databases.length]).toEqual([[], 2]);
    expect(again.readConfig()).toBe(world.readConfig());
    await again.account.close();
  });
});

describe('refusals, before anything is created or written', () => {
  const OTHER = 'b'.repeat(32);
  const withHost = `staging --host ${HOST} --yes`;

  /** Expects the command to fail with this problem, without any effect. */
  async function refused(line: string, problem: string | RegExp, typed?: string): Promise<void> {
    const before = [world.readConfig(), world.created()];
    const { code, stdout, stderr } = await world.provision(line, typed);
    expect(stderr).toMatch(problem);
    expect(stderr.trimEnd().split('\n').at(-1)).toMatch(/^error: /);
    expect([code, stdout, world.commands]).toEqual([1, '', []]);
    expect([world.readConfig(), world.created()]).toEqual(before);
  }

  test('an account without a name at workers.dev', async () => {
    world.account.subdomain = undefined;
    await refused('staging', 'the account has no name at workers.dev: open Workers & Pages');
    await refused(withHost, 'the account has no name at workers.dev');
  });

  test('several accounts, or none', async () => {
    world.account.accounts.push({ id: OTHER, name: 'Berta' });
    await refused('staging', `by --account <id>: ${ACCOUNT} (Anna's account), ${OTHER} (Berta)\n`);
    world.account.accounts.length = 0;
    await refused('staging', 'by --account <id>: this login has none');
  });

  test('an account of somebody else', async () => {
    await refused(`staging --account ${OTHER}`, /\/accounts\/b+\/.*Authentication error/);
  });

  test('a token that Cloudflare rejects', async () => {
    world.account.env.CLOUDFLARE_API_TOKEN = 'expired';
    await refused('staging', /\/accounts\?per_page=50: .*Invalid access token/);
  });

  test('an API that cannot be reached', async () => {
    world.account.env.CLOUDFLARE_API_BASE_URL = 'http://127.0.0.1:1';
    await refused('staging', /Cloudflare cannot be reached: .*(ECONNREFUSED|bad port)/);
  });

  test('an API that answers with a page', async () => {
    world.answer = () => new Response('<html>Bad gateway</html>', { status: 502 });
    await refused('staging', 'Cloudflare answers /accounts?per_page=50: 502');
  });

  test.each([
    ['of no zone', 'api.other.test'],
    ['of a zone that is not active', 'api.pending.test'],
    ['of a zone of another account', 'api.berta.test'],
    ['whose name only ends like a zone', 'notanimals.test'],
  ])('a host %s', async (_, host) => {
    world.account.zones.push(
      { name: 'pending.test', status: 'pending', account: ACCOUNT },
      { name: 'berta.test', status: 'active', account: OTHER },
    );
    await refused(`staging --host ${host} --yes`, `${host} is in no active zone`);
  });

  test('a host of another worker', async () => {
    world.account.hosts.set(HOST, 'a-shop');
    await refused(withHost, `${HOST} is a host of the worker a-shop: choose another`);
  });

  test('a new host, whose DNS records are replaced, without a yes', async () => {
    const change = `serve ${STAGING} at ${HOST}, and replace the DNS records of that host`;
    await refused(`staging --host ${HOST}`, `add --yes to ${change} without a terminal`);
    await refused(`staging --host ${HOST}`, `This will ${change}. Continue? [y/N]`, 'n\n');
  });

  test('production without a yes', async () => {
    const change = 'serve animal-store-production at animal-store-production.anna.workers.dev';
    await refused('production', `add --yes to ${change} in PRODUCTION`);
    await refused('production', `This will ${change} in PRODUCTION. Continue? [y/N]`, '\n');
  });

  test('a host of production', async () => {
    await world.provision('production --host api.animals.test --yes');
    world.commands.length = 0;
    const problem = 'https://api.animals.test/v1 is of the other environment';
    // It is also a host of the other worker.
    await refused('staging --host api.animals.test --yes', problem);
  });

  test('a worker, a database or a KV namespace of production', async () => {
    await world.provision('production --yes');
    world.commands.length = 0;
    const [database] = world.account.databases;
    const [namespace] = world.account.namespaces;
    const text = world.readConfig();
    edit(`database_name = "${STAGING}"`, 'database_name = "animal-store-production"');
    await refused('staging', `${database?.uuid} is of the other environment`);
    world.writeConfig(text);
    Object.assign(namespace ?? {}, { title: `${STAGING}-api-keys` });
    await refused('staging', `${namespace?.id} is of the other environment`);
    edit(`name = "${STAGING}"`, 'name = "animal-store-production"');
    await refused('staging', 'animal-store-production is of the other environment');
  });

  test.each([
    ['address', /^BASE_URL = .*staging.*/m, 'BASE_URL = "https://x.test/v1"'],
    ['database', /^database_id = "(?!local|production).*/m, 'database_id = "x"'],
    ['KV namespace', /^id = "(?!local|production).*/m, 'id = "x"'],
  ])('a worker that serves another %s', async (_, line, other) => {
    await world.provision('staging');
    world.commands.length = 0;
    const text = world.readConfig();
    edit(line, other);
    world.deploy('staging');
    world.writeConfig(text);
    const problem = `${STAGING} serves another address, database or KV namespace. To change a store`;
    await refused('staging', problem);
  });

  test('a worker of another project with the same name', async () => {
    world.deploy('staging');
    await refused('staging', `${STAGING} serves another address, database or KV namespace`);
  });

  test('a worker with two versions, one of which has another database', async () => {
    await world.provision('staging');
    world.commands.length = 0;
    const { versions, deployments } = world.account.find(STAGING);
    versions.push({ id: 'other', code: '', annotations: {}, resources: { bindings: [] } });
    deployments.at(-1)?.versions.push({ version_id: 'other', percentage: 0 });
    await refused('staging', `${STAGING} serves another address, database or KV namespace`);
  });

  test.each([
    ['account', 'account_id', 'staging-account-id', OTHER],
    ['database', 'database_id', 'staging-database-id', 'lost'],
    ['namespace', 'id', 'staging-api-keys-id', 'lost'],
  ])('another %s in wrangler.toml', async (kind, name, placeholder, other) => {
    edit(`${name} = "${placeholder}"`, `${name} = "${other}"`);
    const problem = `wrangler.toml: the ${kind} of staging is ${other}, not `;
    await refused(`staging --account ${ACCOUNT}`, problem);
    await refused(`staging --account ${ACCOUNT}`, 'restore its placeholders');
  });

  test('another address in wrangler.toml', async () => {
    await world.provision(withHost);
    world.commands.length = 0;
    const problem = `the host of staging is ${HOST}, not new.animals.test`;
    await refused('staging --host new.animals.test --yes', problem);
  });

  test('another name of the account at workers.dev', async () => {
    await world.provision('staging');
    world.commands.length = 0;
    world.account.subdomain = 'berta';
    await refused('staging', `is ${AT_WORKERS_DEV}, not ${STAGING}.berta.workers.dev`);
  });
});

describe('the layout of wrangler.toml', () => {
  const isRefused = async (line = 'staging') => {
    const before = world.readConfig();
    const { code, stderr } = await world.provision(line);
    expect([code, world.created(), world.readConfig()]).toEqual([1, [], before]);
    return stderr;
  };

  test('comments, and line ends of Windows, stay', async () => {
    edit('"staging-account-id"', '"staging-account-id" # ask Anna');
    edit(/^routes = .*staging.*/m, '$& # no zone yet');
    world.writeConfig(world.readConfig().replaceAll('\n', '\r\n'));
    const before = world.readConfig();
    expect(await world.provision('staging')).toMatchObject({ code: 0 });
    expect(changedLines(before).map(([, is]) => is)).toEqual([
      `account_id = "${ACCOUNT}" # ask Anna\r`,
      'workers_dev = true # no zone yet\r',
      ...Array(3).fill(expect.stringMatching(/^[\w]+ = "[^"]+"\r$/)),
    ]);
  });

  test.each([
    ['single quotes', '"staging-account-id"', "'staging-account-id'"],
    ['a value that is missing', /^id = "staging.*\n/m, ''],
    ['routes on several lines', /^routes = \[(.*staging.*)\]/m, 'routes = [\n  $1\n]'],
    [
      'a route in another order',
      '{ pattern = "staging.api.animal-store.example", custom_domain = true }',
      '{ custom_domain = true, pattern = "staging.api.animal-store.example" }',
    ],
    ['workers_dev beside the route', /^routes = .*staging.*/m, 'workers_dev = false\n$&'],
    ['a comment that has the value', /^account_id = "staging/m, '# as "staging-account-id"\n$&'],
    ['the value in another table', /^\[vars\]/m, '$&\nCOPY = "staging-database-id"'],
    ['no section', /^\[env\.staging\]\n(.*\n)*?\n/m, ''],
    ['no database', /^\[\[env.staging.d1_databases\]\]\n(.*\n)*?\n/m, ''],
  ])('%s: the command changes nothing', async (_, from, to) => {
    edit(from, to);
    expect(await isRefused()).toContain('wrangler.toml must have its original layout');
  });

  test('a placeholder of staging in production: the command does not replace it', async () => {
    await world.provision('staging');
    edit('production-database-id', 'staging-database-id');
    const before = world.readConfig();
    const { code, stderr } = await world.provision('staging');
    expect([code, world.readConfig()]).toEqual([1, before]);
    expect(stderr).toContain('wrangler.toml must have its original layout');
  });

  test('two routes: the command does not choose one', async () => {
    edit(/^routes = \[(.*staging.*)\]/m, 'routes = [$1, "animals.test/*"]');
    expect(await isRefused()).toContain('the only route must be the host of BASE_URL');
  });

  test('a file that is no TOML', async () => {
    edit('[env.staging]', '[env.staging');
    expect(await isRefused()).toMatch(/^error: .*\n$/);
  });
});

describe('answers, other operators and failures', () => {
  test('a yes on the terminal sets a host up', async () => {
    const { code } = await world.provision(`staging --host ${HOST}`, 'y\n');
    expect([code, world.account.hosts.get(HOST)]).toEqual([0, STAGING]);
  });

  test('a version that another operator deploys meanwhile is not replaced', async () => {
    world.onStep = (step) => {
      if (step === OPENAPI) world.deploy('staging');
    };
    expect(await world.provision('staging')).toMatchObject({ code: 0 });
    expect(world.commands).toEqual([OPENAPI, TRIGGERS]);
  });

  test('a change of wrangler.toml meanwhile is not lost', async () => {
    world.onStep = (step) => {
      if (step === 'POST /d1/database') edit('cpu_ms', '# Another editor.\ncpu_ms');
    };
    await world.provision('staging');
    expect(world.readConfig()).toContain('# Another editor.');
  });

  test('a failed migration, which wrangler only prints, deploys nothing', async () => {
    world.outcomes[MIGRATE] = '│ 0001_create_pets.sql │ ❌ │';
    const { code, stderr } = await world.provision('staging');
    expect([code, world.commands]).toEqual([1, [OPENAPI, MIGRATE]]);
    expect(stderr).toContain('a migration failed: │ 0001_create_pets.sql │ ❌ │');
    world.outcomes = {};
    expect(await world.provision('staging')).toMatchObject({ code: 0 });
  });

  test('the Free plan gets its fix, after which the command goes on', async () => {
    world.outcomes[DEPLOY] = new Error(
      'CPU limits are not supported for the Free plan. [code: 100328]',
    );
    const { code, stderr } = await world.provision('staging');
    expect(code).toBe(1);
    expect(stderr).toContain('Remove the three sections "limits" from wrangler.toml, and run this');
    world.outcomes = {};
    const text = world.readConfig();
    world.writeConfig(text.replaceAll(/^\[(env\.\w+\.)?limits\]\ncpu_ms = 1000\n\n/gm, ''));
    expect(await world.provision('staging')).toMatchObject({ code: 0 });
    expect(world.account.databases).toHaveLength(1);
  });

  test('another failure of wrangler is shown', async () => {
    world.outcomes[DEPLOY] = new Error('wrangler: it failed');
    const { code, stderr } = await world.provision('staging');
    expect([code, stderr.split('\n').at(-2)]).toEqual([1, 'error: wrangler: it failed']);
  });

  test.each([
    'production --host',
    'staging --host https://a.test',
    'staging --host A.test',
    'local',
    '',
    'staging --host x.y.workers.dev',
    'staging --host localhost',
  ])('"%s" is refused with the exit code 2', async (line) => {
    const { code, stderr } = await world.provision(line);
    expect([code, world.account.calls]).toEqual([2, []]);
    expect(stderr).toMatch(/^error: .*\n$/);
  });
});

test.each([
  ['at workers.dev', 'staging', AT_WORKERS_DEV],
  ['at a host', `staging --host ${HOST} --yes`, HOST],
])('a store %s is the same after an interruption at any step', async (_, line, host) => {
  let [steps, last] = [0, await world.provision(line)];
  do {
    await world.account.close();
    world = await startWorld(folder);
    world.steps = steps;
    last = await world.provision(line);
    world.steps = Number.POSITIVE_INFINITY;
    expect(await world.provision(line), `${steps}`).toMatchObject({ code: 0 });
    expect([world.account.databases.length, world.account.namespaces.length]).toEqual([1, 1]);
    expect(world.commands.filter((command) => command === DEPLOY)).toEqual([DEPLOY]);
    expect(hostOf(read('staging'))).toBe(host);
    steps += 1;
  } while (last.code !== 0);
  expect(steps).toBeGreaterThan(12);
});
