/** Set-ups with the real wrangler, from an empty account of a fake of Cloudflare. */
import { readFileSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { startClone } from './clone.ts';
import { ACCOUNT, fail, ok } from './fake-cloudflare.ts';

const { start, run, path, cloudflare } = await startClone(false);

/** Runs a command line on a terminal, with an answer. wrangler asks also in a CI. */
const runOnTerminal = (line: string, answer = '', expected = 0) =>
  run(`echo ${answer} | script -qec '${line}' /dev/null`, expected, { CI: 'true' });

const STAGING = 'node ops/set-up.ts staging';
const WORKER = 'animal-store-staging';

test('a set-up that is killed after each call goes on, and ends with one of each', async () => {
  const lines: string[] = [];
  cloudflare.state.before = (line) => lines.push(line.replaceAll(/.*\/| /g, ''));
  for (const call of [
    '/d1/database {',
    '/namespaces {',
    'INSERT INTO',
    'scripts/animal-store-staging ',
    '/subdomain {',
    '/values/',
  ]) {
    const { process: child, exited } = start(STAGING);
    let isKilled = false;
    cloudflare.state.after = (line) => {
      isKilled ||= line.includes(call) && child.kill('SIGKILL');
    };
    await exited;
    expect(isKilled, call).toBe(true);
  }
  for (const search of [`database?name=${WORKER}`, 'namespaces?per_page=1000'])
    expect(lines).toContain(search);
  // wrangler.toml has an account now.
  const output = await run(STAGING, 0, { CLOUDFLARE_ACCOUNT_ID: 'b' });
  expect(output).toContain(`Account: Anna ${ACCOUNT}\n`);
  const url = `https://${WORKER}.anna.workers.dev/v1/pets`;
  expect(output).toContain(`\ncurl -i ${url} -H 'Authorization: Bearer <key>'\n`);
  expect(cloudflare.databases).toHaveLength(1);
  expect(cloudflare.namespaces.map(({ values }) => values.size)).toEqual([1]);
  expect(cloudflare.find(WORKER)).toMatchObject({ atWorkersDev: true });
});

const PRODUCTION = 'node ops/set-up.ts production --yes';
const DOMAIN = `${PRODUCTION} --domain api.animals.test`;

test('a set-up with a domain gives a key that may only read, for a rotation, and keeps the domain', async () => {
  // It takes none of the stores of another environment.
  cloudflare.seed('staging', 'a-commit');
  expect(await run(DOMAIN.replace(' --yes', ''), 1)).toContain(
    'confirmation required: add --yes to set the store up in PRODUCTION without a terminal\n',
  );
  expect(await runOnTerminal(DOMAIN)).toContain('Bearer animal_production_');
  const records = () =>
    Array.from(cloudflare.namespaces[1]?.values.values() ?? [], ({ value, metadata }) => {
      const record = JSON.parse(value);
      expect(metadata).toEqual(record);
      return record;
    });
  const runKeys = (line: string) => run(`${line} --env production --yes`);
  const output = await runKeys(`node ops/keys.ts rotate ${records()[0].id}`);
  const [key] = /animal_production_\w+/.exec(output) ?? [];
  await runKeys(`echo ${key} | node ops/keys.ts revoke`);
  const [old, next] = records();
  expect(old).toMatchObject({ label: 'Set-up', scopes: ['read'], rotatedTo: next.id });
  expect(next).toHaveProperty('revokedAt');
  expect(await run('node ops/keys.ts list --env production')).toMatch(
    /\tactive\t.*\n.*\trevoked\t/,
  );

  expect(await run(PRODUCTION)).toContain('\ncurl -i https://api.animals.test/v1/pets -H ');
  expect(readFileSync(path('public/openapi.json'), 'utf8')).toContain(
    '"https://api.animals.test/v1"',
  );
  expect(cloudflare.find('animal-store-production')).toMatchObject({
    versions: [{}],
    atWorkersDev: false,
  });
  expect(await run(`${PRODUCTION} --domain other.test`, 1)).toContain('has another host');
  expect([...cloudflare.hosts].at(-1)).toEqual(['api.animals.test', 'animal-store-production']);
});

test('wrangler asks before it replaces the DNS records of a host, and without a terminal nothing is taken', async () => {
  expect(await run(DOMAIN, 1)).toContain('run this on a terminal');
  cloudflare.state.hasRecords = true;
  expect(await runOnTerminal(DOMAIN, 'n', 1)).toContain('DNS records that conflict');
  expect([...cloudflare.hosts]).toEqual([]);
  await runOnTerminal(PRODUCTION, 'y');
  expect([...cloudflare.hosts]).toEqual([['api.animals.test', 'animal-store-production']]);
});

test('a set-up in one of two accounts, without a name at workers.dev, says how to get one', async () => {
  const accounts = [ACCOUNT, 'b'].map((id) => ({ id, name: 'Anna' }));
  cloudflare.state.before = (line) => {
    if (line.startsWith('GET /accounts ')) return ok(accounts);
    return line.includes('/workers/subdomain') && fail(404, 10007, 'Not found.');
  };
  expect(await run(STAGING, 1)).toContain(
    `wrangler.toml or CLOUDFLARE_ACCOUNT_ID must name an account of ${JSON.stringify(accounts)}\n`,
  );
  expect(await run(STAGING, 1, { CLOUDFLARE_ACCOUNT_ID: ACCOUNT })).toContain(
    'open Workers & Pages in the dashboard once, which gives the account its name at workers.dev (',
  );
});

test('a release before the set-up, and a set-up without a login, say what to do', async () => {
  expect(await run('node ops/release.ts staging', 1)).toContain('staging is not set up. See ');
  const variables = { CLOUDFLARE_API_TOKEN: '', HOME: '/nowhere', XDG_CONFIG_HOME: '/nowhere' };
  expect(await run(STAGING, 1, variables)).toContain(
    'log in first: npx wrangler login, or set CLOUDFLARE_API_TOKEN (',
  );
});

/** That of the seed. */
const HOST = 'staging.api.animal-store.test';
const OTHER = 'or another store or address than wrangler.toml\n';

test.each<[string, () => unknown, string]>([
  ['a release', () => cloudflare.seed('staging', 'a-commit'), 'the worker has a release'],
  ['another DB', () => seedOther('DB'), OTHER],
  ['another API_KEYS', () => seedOther('API_KEYS'), OTHER],
  ['another BASE_URL', () => seedOther('BASE_URL'), OTHER],
  ['the host of another worker', () => cloudflare.hosts.set(HOST, 'x'), 'host of x'],
  ['a file that is not committed', () => writeFileSync(path('src/new.ts'), ''), 'commit or remove'],
])('a set-up over %s changes nothing', async (_, prepare, message) => {
  prepare();
  const calls: string[] = [];
  cloudflare.state.before = (line) => calls.push(line);
  expect(await run(`${STAGING} --domain ${HOST}`, 1)).toContain(message);
  expect(calls.filter((line) => /^(PUT|PATCH)|\/(query|deployments) \{/.test(line))).toEqual([]);
});

function seedOther(name: string) {
  cloudflare.seed('staging', 'set-up');
  cloudflare.replaceBinding(WORKER, name);
}

test('a migration that D1 refuses in a successful response ends a set-up before it deploys', async () => {
  cloudflare.state.before = (line) =>
    line.includes('INSERT INTO') && ok([{ results: [], success: false }]);
  expect(await run(STAGING, 1)).toContain('migrations failed: ');
  expect(() => cloudflare.find(WORKER)).toThrow();
});
