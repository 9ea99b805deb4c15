/**
 * `npm run provision`: sets an environment up, from an account to an address. It makes every refusal before it creates or
 * writes anything. Run again, it finds what an earlier run has created. docs/operations.md explains it.
 */
import { execFile } from 'node:child_process';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { isDeepStrictEqual, promisify } from 'node:util';
import { Argument, InvalidArgumentError } from 'commander';
import {
  type Unstable_RawConfig as RawConfig,
  experimental_readRawConfig as readRawConfig,
} from 'wrangler';
import { ask, confirm, createProgram, type DeployedEnvironment, run } from './command-line.ts';
import { hostOf } from './host.ts';
import { requireMigrated } from './migrations.ts';
import { PROJECT_ROOT, runWrangler, runWranglerIn } from './wrangler.ts';

type Options = { host?: string; account?: string; yes?: true };
type Section = ReturnType<typeof readSection>;
/** `undefined`: a placeholder in wrangler.toml, or missing in the account. */
type Values = Record<'account' | 'host' | 'database' | 'namespace', string | undefined>;
/** Calls Cloudflare's API; by POST, if there is a body. `undefined`: the path names nothing that exists. */
type Call = <Result>(path: string, body?: object) => Promise<Result | undefined>;

const CONFIG = join(PROJECT_ROOT, 'wrangler.toml');
/** The edited file, until it is checked and replaces the other. Git ignores its folder. */
const EDITED = join(PROJECT_ROOT, '.wrangler/provision.toml');
const MOVE = 'To change a store, see "Move a store" in docs/operations.md.';
const NO_NAME = 'the account has no name at workers.dev: open Workers & Pages in the dashboard';
const RESTORE = 'If it has no data, restore its placeholders: git log --patch wrangler.toml';
const UNTESTED =
  'No test has passed this version, and nobody uses it yet: npm run release replaces it.';
const UNCHANGED = 'A version is served already. Only its routes and crons are set.';
const NEXT = 'Next: commit, and create a key. For production: "First set-up" in docs/operations.md';
const LAYOUT = 'wrangler.toml must have its original layout: git log --patch wrangler.toml';

export const program = createProgram('npm run provision --', 'Sets an environment up.')
  .addArgument(new Argument('<environment>').choices(['staging', 'production']))
  .option('--host <name>', 'a host in a zone of the account (default: at workers.dev)', parseHost)
  .option('--account <id>', 'the account, if there are several')
  .option('--yes', 'do not ask')
  .action(provision);
if (import.meta.main) await run(program);

async function provision(environment: DeployedEnvironment, options: Options): Promise<void> {
  const section = readSection(environment);
  const { worker, databaseName } = section;
  const keysName = `${worker}-api-keys`;
  const call = await connect();
  const account = options.account ?? section.set.account ?? (await readOnlyAccount(call));
  const inAccount: Call = (path, body) => call(`/accounts/${account}${path}`, body);
  const host = await chooseHost(inAccount, section, options.host);
  const found = {
    account,
    host,
    database: await find(inAccount, `/d1/database?name=${databaseName}`, databaseName),
    namespace: await find(inAccount, '/storage/kv/namespaces?per_page=1000', keysName),
  };
  refuseOtherValues(section, found);
  refuseOtherStores(section, found, await readServed(inAccount, worker));
  const isNewHost = isCustom(host) && (await refuseOtherHost(call, account, worker, host));
  const { database = 'new', namespace = 'new' } = found;
  await editConfig(section, { ...found, database, namespace });
  const change = `serve ${worker} at ${host}`;
  if (isNewHost) await ask(`${change}, and replace the DNS records of that host`, options.yes);
  else await confirm(change, environment, options.yes);

  found.database ??= await create(inAccount, '/d1/database', { name: databaseName });
  found.namespace ??= await create(inAccount, '/storage/kv/namespaces', { title: keysName });
  await editConfig(section, found);
  await rename(EDITED, CONFIG);
  // Asynchronous, because the API closes a connection on which the process does not react.
  await promisify(execFile)(process.execPath, [join(PROJECT_ROOT, 'ops/openapi.ts')]);
  // Read again, because another operator may have deployed. A served version is never replaced.
  const isServed = (await readServed(inAccount, worker)).length > 0;
  if (isServed) await runWranglerIn(environment, ['triggers', 'deploy']);
  else await deployFirst(environment);
  console.error(isServed ? UNCHANGED : UNTESTED);
  console.error(NEXT);
  console.log(`https://${host}/v1`);
}

// --------------------------------------------------------------------------------- wrangler.toml

/** An environment in wrangler.toml. `set`: its values that are not placeholders. `others`: the rest of the file. */
function readSection(environment: DeployedEnvironment, path = CONFIG) {
  const { rawConfig }: { rawConfig: RawConfig } = readRawConfig({ config: path });
  const { [environment]: section, ...others } = rawConfig.env ?? {};
  const [database] = section?.d1_databases ?? [];
  const [namespace] = section?.kv_namespaces ?? [];
  if (!section?.name || !database?.database_name || !namespace) throw new Error(LAYOUT);
  const host = hostOf(section);
  const valueUnless = (placeholder: string, value?: string) =>
    value === `${environment}-${placeholder}` ? undefined : value;
  const set: Values = {
    account: valueUnless('account-id', section.account_id),
    host: host.endsWith('.example') ? undefined : host,
    database: valueUnless('database-id', database.database_id),
    namespace: valueUnless('api-keys-id', namespace.id),
  };
  return {
    environment,
    worker: section.name,
    databaseName: database.database_name,
    host,
    set,
    others: { ...rawConfig, env: others },
  };
}

/** Writes a copy of wrangler.toml with values for placeholders. @throws Error unless it parses as it should. */
async function editConfig({ environment, host: old, others }: Section, values: Values) {
  const { account, host = '', database, namespace } = values;
  const route = `routes = [{ pattern = "${old}", custom_domain = true }]`;
  const text = await readFile(CONFIG, 'utf8');
  const edited = text
    .replace(route, isCustom(host) ? route.replace(old, host) : 'workers_dev = true')
    .replace(`"${environment}-account-id"`, `"${account}"`)
    .replace(`"${environment}-database-id"`, `"${database}"`)
    .replace(`"${environment}-api-keys-id"`, `"${namespace}"`)
    .replace(`"https://${old}/v1"`, `"https://${host}/v1"`);
  await mkdir(dirname(EDITED), { recursive: true });
  await writeFile(EDITED, edited);
  try {
    const parsed = readSection(environment, EDITED);
    if (isDeepStrictEqual([parsed.set, parsed.others], [values, others])) return;
  } catch {
    // It is no TOML any more, or has another address.
  }
  throw new Error(LAYOUT);
}

function isCustom(host: string): boolean {
  return !host.endsWith('.workers.dev');
}

// -------------------------------------------------------------------------------------- refusals

/** The values of wrangler.toml may be those of a store with data: only placeholders are replaced. */
function refuseOtherValues({ environment, set }: Section, found: Values): void {
  for (const name of ['account', 'host', 'database', 'namespace'] as const) {
    const value = set[name];
    if (!value || value === found[name]) continue;
    const other = `not ${found[name] ?? 'in the account'}. ${MOVE} ${RESTORE}`;
    throw new Error(`wrangler.toml: the ${name} of ${environment} is ${value}, ${other}`);
  }
}

/** What is served must not get another store. */
function refuseOtherStores({ worker, others }: Section, found: Values, served: unknown[]): void {
  const { host, database, namespace } = found;
  const values = [`https://${host}/v1`, database, namespace];
  const shared = 'is of the other environment in wrangler.toml: choose another';
  const moved = 'serves another address, database or KV namespace.';
  for (const value of [worker, ...values])
    if (JSON.stringify(others).includes(`"${value}"`)) throw new Error(`${value} ${shared}`);
  for (const version of served)
    if (!values.every((value) => JSON.stringify(version).includes(`"${value}"`)))
      throw new Error(`${worker} ${moved} ${MOVE}`);
}

/** Wrangler takes a host over from another worker without asking. Returns whether no worker has it. */
async function refuseOtherHost(call: Call, account: string, worker: string, host: string) {
  await refuseOtherZone(call, account, host);
  const path = `/accounts/${account}/workers/domains?hostname=${host}`;
  const domains = await call<{ hostname: string; service: string }[]>(path);
  const domain = domains?.find(({ hostname }) => hostname === host);
  if (domain && domain.service !== worker)
    throw new Error(`${host} is a host of the worker ${domain.service}: choose another`);
  return !domain;
}

/** A custom domain must be in an active zone. */
async function refuseOtherZone(call: Call, account: string, host: string): Promise<void> {
  for (let name = host; name.includes('.'); name = name.slice(name.indexOf('.') + 1)) {
    const zones = `/zones?name=${name}&account.id=${account}&status=active`;
    if ((await call<object[]>(zones))?.length) return;
  }
  const problem = 'is in no active zone of the account that this login can read (Zone: Read)';
  throw new Error(`${host} ${problem}`);
}

// ----------------------------------------------------------------------------------- the account

/** Logs in as wrangler does. */
async function connect(): Promise<Call> {
  const base = process.env.CLOUDFLARE_API_BASE_URL ?? 'https://api.cloudflare.com/client/v4';
  const { token, key, email } = JSON.parse(await runWrangler(['auth', 'token', '--json']));
  const headers = token
    ? { authorization: `Bearer ${token}` }
    : { 'x-auth-key': key, 'x-auth-email': email };
  return async (path, body) => {
    const post = body && { method: 'POST', body: JSON.stringify(body) };
    const response = await fetch(base + path, { headers, ...post }).catch((cause) => {
      throw new Error(`Cloudflare cannot be reached: ${cause.cause ?? cause}`, { cause });
    });
    const { success, result, errors } = Object(await response.json().catch(() => undefined));
    if (success) return result;
    // There is no such worker, or no name at workers.dev.
    if (errors?.[0]?.code === 10007) return undefined;
    throw new Error(`Cloudflare answers ${path}: ${JSON.stringify(errors ?? response.status)}`);
  };
}

async function readOnlyAccount(call: Call) {
  const accounts = await call<{ id: string; name: string }[]>('/accounts?per_page=50');
  const [account, ...others] = accounts ?? [];
  if (account && others.length === 0) return account.id;
  const list = accounts?.map(({ id, name }) => `${id} (${name})`).join(', ');
  throw new Error(`choose an account by --account <id>: ${list || 'this login has none'}`);
}

/** The host of the option or of wrangler.toml, or the worker's at workers.dev. */
async function chooseHost(call: Call, { worker, set }: Section, option?: string) {
  const account = await call<{ subdomain: string }>('/workers/subdomain');
  // Cloudflare accepts no worker without it, even for another host.
  if (!account) throw new Error(NO_NAME);
  const host = option ?? set.host;
  if (host && isCustom(host)) return host;
  return `${worker}.${account.subdomain}.workers.dev`;
}

type Resource = { id?: string; uuid?: string; name?: string; title?: string };

/** The id of a database or KV namespace. */
async function find(call: Call, path: string, name: string) {
  const isIt = (each: Resource) => name === (each.name ?? each.title);
  const resource = (await call<Resource[]>(path))?.find(isIt);
  return resource?.uuid ?? resource?.id;
}

async function create(call: Call, path: string, body: object) {
  const resource = await call<Resource>(path, body);
  console.error('Created', path, body);
  return resource?.uuid ?? resource?.id;
}

/** The versions that are served, with their bindings. */
async function readServed(call: Call, worker: string) {
  type Deployment = { versions: { version_id: string }[] };
  const script = `/workers/scripts/${worker}`;
  const list = await call<{ deployments: Deployment[] }>(`${script}/deployments`);
  const versions = list?.deployments[0]?.versions ?? [];
  return Promise.all(versions.map(({ version_id }) => call(`${script}/versions/${version_id}`)));
}

// -------------------------------------------------------------------------------------- the rest

async function deployFirst(environment: DeployedEnvironment): Promise<void> {
  requireMigrated(
    await runWranglerIn(environment, ['d1', 'migrations', 'apply', 'DB', '--remote']),
  );
  try {
    await runWranglerIn(environment, ['deploy', '--no-x-provision']);
  } catch (cause) {
    if (!String(cause).includes('100328')) throw cause;
    const fix = 'Remove the three sections "limits" from wrangler.toml, and run this again';
    throw new Error(`the Free plan has no CPU limits. ${fix}`, { cause });
  }
}

function parseHost(text: string): string {
  if (/^([a-z0-9-]+\.)+[a-z0-9-]+$/.test(text) && isCustom(text)) return text;
  throw new InvalidArgumentError('It must be a host name in lower case, and not at workers.dev.');
}
