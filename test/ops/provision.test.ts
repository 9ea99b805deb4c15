/** `npm run provision` in this process, with a fake of wrangler and of Cloudflare's API. set-up.release.ts runs the real wrangler. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import * as commandLine from '../../ops/command/command-line.ts';
import { runInProcess } from '../support/command.ts';
import { ACCOUNT, type Cloudflare, startCloudflare } from '../support/fake-cloudflare.ts';
import { readPlaceholders } from '../support/placeholders.ts';
import { temporaryFolder } from '../support/project.ts';

const STAGING = 'animal-store-staging';
const ADDRESS = `https://${STAGING}.anna.workers.dev/v1`;
const CREATE_DATABASE = `npx wrangler d1 create ${STAGING} --env staging`;
const CREATE_NAMESPACE = 'npx wrangler kv namespace create animal-store-api-keys --env staging';
const MIGRATE = 'npx wrangler d1 migrations apply DB --remote --env staging';
const DEPLOY = 'npx wrangler deploy --no-x-provision --env staging';
const STEPS = [
  CREATE_DATABASE,
  'in wrangler.toml, replace staging-database-id by the id',
  CREATE_NAMESPACE,
  'in wrangler.toml, replace staging-api-keys-id by the id',
  'npm run openapi',
  MIGRATE,
  DEPLOY,
];

let account: Cloudflare;
let config: string;
/** The commands that were run. */
let commands: string[];
/** What a command does, and prints. */
let outcomes: Record<string, () => string>;
/** Ctrl-C. */
let interrupt = () => {};

beforeEach(async () => {
  account = await startCloudflare();
  vi.stubEnv('CLOUDFLARE_API_BASE_URL', account.env.CLOUDFLARE_API_BASE_URL);
  config = join(await temporaryFolder(), 'wrangler.toml');
  writeFileSync(config, readPlaceholders());
  commands = [];
  outcomes = {
    [CREATE_DATABASE]: () => 'database_id = "a-database"',
    [CREATE_NAMESPACE]: () => 'id = "a-namespace"',
  };
});
afterEach(async () => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
  account.close();
});

function take(command: string): string {
  commands.push(command);
  return outcomes[command]?.() ?? '';
}

/** Runs `npm run provision -- <args>`. `typed`: on a terminal. */
function provision(args = ['staging', '--yes'], typed?: string) {
  const logins: Record<string, object> = {
    auth: { token: account.env.CLOUDFLARE_API_TOKEN },
    whoami: { accounts: account.accounts },
  };
  const wrangler = {
    runWrangler: async ([command = '']: string[]) => JSON.stringify(logins[command]),
    runWranglerIn: async (
      environment: string,
      words: string[],
      options: { signal: AbortSignal },
    ) => {
      const output = take(`npx wrangler ${words.join(' ')} --env ${environment}`);
      options.signal.throwIfAborted();
      return output;
    },
  };
  const onStop = (stop: () => void) => {
    interrupt = stop;
  };
  const execFileSync = () => take('npm run openapi');
  const mocks = {
    '../../ops/command/project-root.ts': { PROJECT_ROOT: join(config, '..') },
    '../../ops/command/wrangler.ts': wrangler,
    '../../ops/command/command-line.ts': { ...commandLine, onStop },
    'node:child_process': { execFileSync },
  };
  return runInProcess('provision.ts', mocks, args, typed);
}

const read = () => readFileSync(config, 'utf8');
function edit(from: string, to: string): void {
  expect(read()).toContain(from);
  writeFileSync(config, read().replace(from, to));
}

test('the command creates, deploys, and writes the ids, the account and the address', async () => {
  // Line ends of Windows stay.
  writeFileSync(config, read().replaceAll('\n', '\r\n'));
  const before = read();
  const { code, stdout, stderr } = await provision();
  expect([code, stdout]).toEqual([0, `${ADDRESS}\n`]);
  expect(stderr).toContain(`${CREATE_DATABASE}\ndatabase_id = "a-database"\n`);
  expect(stderr).toContain('This version has passed no test');
  expect(commands).toEqual(STEPS.filter((step) => step.startsWith('np')));
  expect(read()).toBe(
    before
      .replace('staging-account-id', ACCOUNT)
      .replace(/routes = .*staging.*\]/, 'workers_dev = true')
      .replace('https://staging.api.animal-store.example/v1', ADDRESS)
      .replace('staging-database-id', 'a-database')
      .replace('staging-api-keys-id', 'a-namespace'),
  );
});

test('an account and a host of one’s own in wrangler.toml stay, and the question names the danger', async () => {
  account.accounts.push({ id: 'b'.repeat(32), name: 'Berta' });
  edit('staging-account-id', ACCOUNT);
  writeFileSync(config, read().replaceAll('staging.api.animal-store.example', 'x.animals.test'));
  const before = read();
  const { stdout, stderr } = await provision(['staging'], 'y\n');
  expect(stdout).toBe('https://x.animals.test/v1\n');
  expect(stderr).toContain(`This will set up ${STAGING} at https://x.animals.test in the account`);
  expect(stderr).toContain('replaces the DNS records of that host, and takes it from another');
  const ids = before.replace('staging-database-id', 'a-database');
  expect(read()).toBe(ids.replace('staging-api-keys-id', 'a-namespace'));
});

const ROUTES = 'routes = [{ pattern = "staging.api.animal-store.example", custom_domain = true }]';
const DEPLOYMENT = { id: '1', versions: [] };

test.each<[string, () => unknown, string]>([
  [
    'a database id that is no placeholder',
    () => edit('staging-database-id', 'other'),
    'wrangler.toml: other is not a placeholder, so',
  ],
  [
    'a KV namespace id that is no placeholder',
    () => edit('staging-api-keys-id', 'other'),
    'wrangler.toml: other is not a placeholder, so',
  ],
  [
    'several accounts',
    () => account.accounts.push({ id: 'b'.repeat(32), name: 'Berta' }),
    `account_id = "${'b'.repeat(32)}" # Berta\nerror: this login has several accounts: in wrangler.toml, write one of the lines above into [env.staging]`,
  ],
  ['no account', () => account.accounts.splice(0), 'this login has no account'],
  [
    'a worker with a deployment',
    () => account.workers.set(STAGING, { versions: [], deployments: [DEPLOYMENT] }),
    `${STAGING} has a deployment already. If it is this store, write its ids`,
  ],
  [
    'an account without a name at workers.dev',
    () => Object.assign(account.state, { subdomain: undefined }),
    'the account has no name at workers.dev: open Workers & Pages in the dashboard',
  ],
  [
    'a call that Cloudflare refuses',
    () => Object.assign(account.state, { failing: 'GET /workers/subdomain' }),
    `Cloudflare answers /accounts/${ACCOUNT}/workers/subdomain: [{"code":1,"message":"It failed."}]`,
  ],
  [
    'a page of a proxy',
    () => vi.spyOn(globalThis, 'fetch').mockResolvedValue(new Response('<h1>', { status: 502 })),
    `Cloudflare answers /accounts/${ACCOUNT}/workers/scripts/${STAGING}/deployments: 502\n`,
  ],
  [
    'a call without an answer',
    () => vi.spyOn(AbortSignal, 'timeout').mockReturnValue(AbortSignal.abort()),
    "Cloudflare's API is not reached: AbortError",
  ],
  [
    'a token that is no header, and is not shown',
    () => Object.assign(account.env, { CLOUDFLARE_API_TOKEN: 'a\nsecret' }),
    "Cloudflare's API is not reached: TypeError\n",
  ],
  [
    'an address at workers.dev of another account',
    () => {
      edit(ROUTES, 'workers_dev = true');
      edit('https://staging.api.animal-store.example/v1', ADDRESS.replace('anna', 'berta'));
    },
    `${STAGING}.berta.workers.dev is of another account; of this one it is ${STAGING}.anna.workers.dev`,
  ],
  ['no database id', () => edit('database_id = "staging-database-id"', ''), 'a missing id is not'],
  [
    'an id in a comment',
    () => edit('[env.staging]', '# staging-api-keys-id\n[env.staging]'),
    'once',
  ],
  [
    'two routes',
    () => edit('routes = [{ pattern = "staging', 'routes = ["a.test/*", { pattern = "staging'),
    'the only route must be the host of BASE_URL',
  ],
  ['single quotes', () => edit('"staging-account-id"', "'staging-account-id'"), 'exactly once'],
])('%s: the command changes nothing', async (_, arrange, message) => {
  arrange();
  const before = read();
  const { code, stdout, stderr } = await provision();
  expect(stderr).toContain(message);
  expect([code, stdout, commands, read()]).toEqual([1, '', [], before]);
  expect(stderr).toMatch(/^error: .*\n$/m);
});

test.each([
  ['no', 'n\n'],
  ['no terminal', undefined],
])('%s: the command changes nothing', async (_, typed) => {
  const before = read();
  expect(await provision(['staging'], typed)).toMatchObject({ code: 1, stdout: '' });
  expect([commands, read()]).toEqual([[], before]);
});

const print = (text: string) => () => text;
const fail = (message: string) => () => {
  throw new Error(message);
};
const interruptAndEnd = () => {
  interrupt();
  return '';
};

test.each<[string, number, Record<string, () => string>, string]>([
  ['a database that exists', 0, { [CREATE_DATABASE]: fail('wrangler: it failed') }, 'it failed'],
  ['an unknown database id', 1, { [CREATE_DATABASE]: print('') }, 'wrangler has printed no id'],
  [
    'a failed migration, which wrangler only prints',
    5,
    { [MIGRATE]: print('❌') },
    'a migration failed',
  ],
  ['Ctrl-C', 5, { [MIGRATE]: interruptAndEnd }, 'aborted'],
  [
    'the Free plan',
    6,
    { [DEPLOY]: fail('CPU limits are not supported for the Free plan. [code: 100328]') },
    'remove the sections [limits], [env.staging.limits] and [env.production.limits] from',
  ],
])('%s: the command prints what it has done, and what is left', async (_, i, failure, message) => {
  Object.assign(outcomes, failure);
  const { code, stdout, stderr } = await provision();
  expect([code, stdout]).toEqual([1, '']);
  const [, done, left] = /\nDone:\n([\s\S]*?)Left to do[^\n]*\n([\s\S]*)error: /.exec(stderr) ?? [];
  const lines = (steps: string[]) => steps.map((step) => `  ${step}\n`).join('');
  expect(done).toBe(lines(STEPS.slice(0, i)));
  expect(left).toBe(lines(STEPS.slice(i)));
  expect(stderr.split('\n').at(-2)).toContain(message);
});

test.each(['production --host x.test', 'local', ''])('"%s" is refused', async (line) => {
  const { code, stderr } = await provision(line.split(' '));
  expect([code, account.calls]).toEqual([2, []]);
  expect(stderr).toMatch(/^error: .*\n$/);
});
