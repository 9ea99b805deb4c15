/**
 * `npm run set-up`: takes an environment from an empty account to its first answer. It finds what a
 * run that was killed has created, and goes on, but never changes a store that somebody serves.
 * docs/set-up.md explains it.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { Argument, InvalidArgumentError } from 'commander';
import { type Account, openAccount, readOwner } from './command/account.ts';
import {
  confirm,
  createProgram,
  type DeployedEnvironment,
  run,
  visible,
  yesOption,
} from './command/command-line.ts';
import { identityOf, readJson, readServedVersion, requireMigrated } from './command/deployed.ts';
import { readCommit } from './command/git.ts';
import { PROJECT_ROOT } from './command/project-root.ts';
import { askWranglerIn, hasTerminal, readConfig, runWranglerIn } from './command/wrangler.ts';

export const program = createProgram('npm run set-up --', 'Sets an environment up at Cloudflare.')
  .addArgument(new Argument('<environment>').choices(['staging', 'production']))
  .option('--domain <host>', 'a host of your own, in a zone of the account', parseHost)
  .addOption(yesOption)
  .action(setUp);

type Options = { domain?: string; yes?: true };

/** The tag of the version that a set-up deploys. */
const TAG = 'set-up';

async function setUp(env: DeployedEnvironment, { domain, yes }: Options) {
  // Except what an earlier run has written.
  readCommit('wrangler.toml', 'public/openapi.json');
  const { id, name } = await findAccount(env);
  console.error('Account:', visible(name), id);
  await confirm('set the store up', env, yes);
  edit(`${env}-account-id`, id);
  const account = await openAccount(env, id);
  await writeHost(env, account, domain);
  const { name: worker = '' } = await readConfig(env);
  await writeId(account, `${env}-database-id`, '/d1/database', `name=${worker}`, 'name', worker);
  const namespaces = '/storage/kv/namespaces';
  await writeId(account, `${env}-api-keys-id`, namespaces, 'per_page=1000', 'title', worker);
  const isDeployed = await hasDeployed(env, account);

  // Writes the address into the description.
  execFileSync(process.execPath, ['ops/openapi.ts']);
  await runWranglerIn(env, ['d1', 'migrations', 'apply', 'DB', '--remote']);
  await requireMigrated(env);
  // A run that was killed may have deployed, and not set the route.
  askWranglerIn(env, isDeployed ? ['triggers', 'deploy'] : ['deploy', '--tag', TAG]);
  const key = findOrCreateKey(env);
  const { vars } = await readConfig(env);
  console.error('Commit the changed files. A new address needs some minutes, and a key a minute:');
  console.log(`curl -i ${vars.BASE_URL}/pets -H 'Authorization: Bearer ${key}'`);
}

/**
 * Whether a set-up has deployed.
 *
 * @throws Error if the worker has a release, or another store or address than wrangler.toml.
 */
async function hasDeployed(env: DeployedEnvironment, account: Account): Promise<boolean> {
  const { name, d1_databases, kv_namespaces, vars } = await readConfig(env);
  const workers: { id: string }[] = await account('GET /workers/scripts');
  if (!workers.some(({ id }) => id === name)) return false;
  const version = await readServedVersion(env);
  const served = ['DB', 'API_KEYS', 'BASE_URL'].map((each) => identityOf(version, each));
  const written = [d1_databases[0]?.database_id, kv_namespaces[0]?.id, vars.BASE_URL];
  if (version.annotations?.['workers/tag'] === TAG && isDeepStrictEqual(served, written))
    return true;
  throw new Error('the worker has a release, or another store or address than wrangler.toml');
}

function parseHost(text: string): string {
  if (/^[a-z0-9-]+(\.[a-z0-9-]+)+$/.test(text)) return text;
  throw new InvalidArgumentError('It must be a host name in lower case, such as api.example.com.');
}

/** Replaces a placeholder in wrangler.toml. */
function edit(from: string, to: string) {
  writeFileSync('wrangler.toml', readFileSync('wrangler.toml', 'utf8').replaceAll(from, to));
}

/** The account of wrangler.toml or of CLOUDFLARE_ACCOUNT_ID, or the only one. */
async function findAccount(env: DeployedEnvironment) {
  const { account_id = '' } = await readConfig(env);
  const wanted = account_id.endsWith('-id') ? process.env.CLOUDFLARE_ACCOUNT_ID : account_id;
  type User = { accounts: { id: string; name: string }[] };
  const { accounts } = await readJson<User>(env, ['whoami']).catch((cause: Error) => {
    const advice = 'npx wrangler login, or set CLOUDFLARE_API_TOKEN';
    throw new Error(`log in first: ${advice} (${cause.message})`, { cause });
  });
  const [account, ...others] = accounts.filter(({ id }) => !wanted || id === wanted);
  if (account && others.length === 0) return account;
  const found = JSON.stringify(accounts);
  throw new Error(`wrangler.toml or CLOUDFLARE_ACCOUNT_ID must name an account of ${found}`);
}

/** Writes the address, unless it is written. */
async function writeHost(env: DeployedEnvironment, account: Account, domain?: string) {
  const { name = '', vars } = await readConfig(env);
  const written = new URL(String(vars.BASE_URL)).host;
  const isWritten = !written.endsWith('.example');
  const { subdomain } = await account('GET /workers/subdomain').catch((cause: Error) => {
    const advice = 'open Workers & Pages in the dashboard once, which gives the account its name';
    throw new Error(`${advice} at workers.dev (${cause.message})`, { cause });
  });
  const workersDev = `${name}.${subdomain}.workers.dev`;
  const host = domain ?? (isWritten ? written : workersDev);
  if (isWritten && host !== written) throw new Error('wrangler.toml has another host');
  if (host !== workersDev) await requireFree(account, host, name);
  if (isWritten) return;
  const routes = `routes = [{ pattern = "${written}", custom_domain = true }]`;
  edit(routes, domain ? routes.replace(written, domain) : 'workers_dev = true');
  edit(`https://${written}/`, `https://${host}/`);
}

/**
 * @throws Error if a host has another worker, or may have DNS records: wrangler asks before it
 * replaces them, on a terminal alone.
 */
async function requireFree(account: Account, host: string, name: string) {
  const owner = await readOwner(account, host);
  if (owner === name) return;
  if (owner) throw new Error(`${host} is the host of ${owner}`);
  if (!hasTerminal()) throw new Error(`run this on a terminal: wrangler may ask about ${host}`);
}

/**
 * Writes the id of the database or namespace with this name, unless an id is written. Creates it,
 * unless it exists.
 *
 * @param search - the query of the list, which has pages: only databases can be found by name.
 */
async function writeId(
  account: Account,
  placeholder: string,
  path: string,
  search: string,
  field: string,
  name: string,
) {
  if (!readFileSync('wrangler.toml', 'utf8').includes(`"${placeholder}"`)) return;
  const items: Record<string, string>[] = await account(`GET ${path}?${search}`);
  const item =
    items.find((each) => each[field] === name) ??
    (await account(`POST ${path}`, { [field]: name }));
  edit(placeholder, item.uuid ?? item.id);
}

/** Returns a new key that may only read, or `<key>` if there is a key. */
function findOrCreateKey(env: DeployedEnvironment): string {
  const keys = (...args: string[]) =>
    execFileSync(process.execPath, ['ops/keys.ts', ...args, '--env', env], { encoding: 'utf8' });
  if (keys('list') !== '') return '<key>';
  return keys('create', '--label', 'Set-up', '--read-only', '--yes').trim();
}

if (import.meta.main) {
  process.chdir(PROJECT_ROOT);
  await run(program);
}
