/**
 * `npm run provision`: sets an environment up by wrangler's own commands, if both of its ids in wrangler.toml are placeholders.
 * Nothing is created or written before its question. A failure after that ends the command with a list of what is left to do by
 * hand: docs/set-up.md.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Argument } from 'commander';
import { unstable_readConfig as readConfig } from 'wrangler';
import {
  ask,
  createProgram,
  type DeployedEnvironment,
  onStop,
  run,
  yesOption,
} from './command/command-line.ts';
import { PROJECT_ROOT } from './command/project-root.ts';
import { runWrangler, runWranglerIn } from './command/wrangler.ts';
import { requireOwnHost } from './host.ts';
import { requireMigrated } from './migrations.ts';

type Config = ReturnType<typeof readConfig>;
/** `what`: the command, or the edit of wrangler.toml, that does the same by hand. */
type Step = { what: string; run: () => unknown };

const CONFIG = join(PROJECT_ROOT, 'wrangler.toml');
const OPENAPI = join(PROJECT_ROOT, 'ops/openapi.ts');
const API_LIMIT_MS = 30_000;
const LEFT =
  'Left to do, one line at a time. Stop when a line fails or prints ❌. A create command prints the id. If the name exists already, and is that of this store, "npx wrangler d1 list" or "npx wrangler kv namespace list", with --env, prints it:';
const NOT_NEW =
  'is not a placeholder, so the environment may be set up already: see docs/set-up.md';
const CHOOSE_ACCOUNT =
  'this login has several accounts: in wrangler.toml, write one of the lines above into';
const SERVED =
  'has a deployment already. If it is this store, write its ids and address into wrangler.toml. Otherwise choose another name there.';
const NO_NAME =
  'the account has no name at workers.dev: open Workers & Pages in the dashboard, then run this again';
const TAKEN_OVER =
  '; wrangler replaces the DNS records of that host, and takes it from another worker, without asking';
const FREE_PLAN =
  'the Free plan has no CPU limits: remove the sections [limits], [env.staging.limits] and [env.production.limits] from wrangler.toml, then run the last command';
const NEXT =
  'This version has passed no test, and nobody uses it yet: npm run release replaces it. Next: commit, and create a key.';

export const program = createProgram('npm run provision --', 'Sets an environment up.')
  .addArgument(new Argument('<environment>').choices(['staging', 'production']))
  .addOption(yesOption)
  .action(provision);
if (import.meta.main) await run(program);

async function provision(environment: DeployedEnvironment, options: { yes?: true }): Promise<void> {
  const config = readConfig({ config: CONFIG, env: environment });
  requirePlaceholders(environment, config);
  // Without a login this fails, and says how to log in.
  const { token } = JSON.parse(await runWrangler(['auth', 'token', '--json', '--env', '']));
  const account = await chooseAccount(environment, config);
  await requireNoDeployment(token, account, config);
  const host = await chooseHost(token, account, config);
  const edits = addressEdits(environment, config, account, host);
  // Before anything is created.
  for (const text of [...edits.keys(), ...idsOf(config)]) requireOnce(text);
  const warning = host.endsWith('.workers.dev') ? '' : TAKEN_OVER;
  await ask(
    `set up ${config.name} at https://${host} in the account ${account}${warning}`,
    options.yes,
  );
  // Must precede the first call of wrangler in the environment, which would be sent to the placeholder of the account.
  editConfig(edits);
  const stop = new AbortController();
  // Without this, Ctrl-C would end this process before it prints what is left.
  onStop(() => stop.abort());
  await runSteps(stepsOf(environment, config, stop.signal));
  console.error(NEXT);
  console.log(`https://${host}/v1`);
}

/** Other ids may be those of a store with data. */
function requirePlaceholders(environment: string, config: Config): void {
  for (const id of idsOf(config))
    if (!id.startsWith(`${environment}-`)) throw new Error(`wrangler.toml: ${id} ${NOT_NEW}`);
}

/** The ids of the database and of the KV namespace. */
function idsOf({ d1_databases, kv_namespaces }: Config): string[] {
  return [d1_databases[0]?.database_id ?? 'a missing id', kv_namespaces[0]?.id ?? 'a missing id'];
}

/** The account of wrangler.toml, or the only one. */
async function chooseAccount(environment: string, { account_id }: Config): Promise<string> {
  if (account_id && account_id !== `${environment}-account-id`) return account_id;
  const { accounts } = JSON.parse(await runWrangler(['whoami', '--json', '--env', '']));
  if (accounts.length === 0) throw new Error('this login has no account');
  if (accounts.length === 1) return accounts[0].id;
  for (const { id, name } of accounts) console.error(`account_id = "${id}" # ${name}`);
  throw new Error(`${CHOOSE_ACCOUNT} [env.${environment}]`);
}

/** A worker that is served must not get another store. */
async function requireNoDeployment(token: string, account: string, { name }: Config) {
  const served = await readApi(token, `/accounts/${account}/workers/scripts/${name}/deployments`);
  if (served?.deployments.length) throw new Error(`${name} ${SERVED}`);
}

/** The host of wrangler.toml, or the worker's at workers.dev. */
async function chooseHost(token: string, account: string, config: Config): Promise<string> {
  const workersDev = await readApi(token, `/accounts/${account}/workers/subdomain`);
  // Cloudflare accepts no worker without this name, even for another host.
  if (!workersDev) throw new Error(NO_NAME);
  const atWorkersDev = `${config.name}.${workersDev.subdomain}.workers.dev`;
  const host = requireOwnHost(config);
  if (host.endsWith('.example')) return atWorkersDev;
  if (host.endsWith('.workers.dev') && host !== atWorkersDev)
    throw new Error(
      `wrangler.toml: ${host} is of another account; of this one it is ${atWorkersDev}`,
    );
  return host;
}

/** Reads from Cloudflare's API. Returns `undefined` if the path names nothing that exists. */
async function readApi(token: string, path: string) {
  const api = process.env.CLOUDFLARE_API_BASE_URL ?? 'https://api.cloudflare.com/client/v4';
  const headers = { authorization: `Bearer ${token}` };
  const signal = AbortSignal.timeout(API_LIMIT_MS);
  const response = await fetch(api + path, { headers, signal }).catch((cause) => {
    // Not its message, which shows a token that is no valid header.
    throw new Error(`Cloudflare's API is not reached: ${cause.cause ?? cause.name}`, { cause });
  });
  // Between here and Cloudflare, a proxy may answer with a page.
  const body = await response.json().catch(() => undefined);
  const { success, result, errors = response.status } = Object(body);
  if (success) return result;
  // There is no such worker, or no name at workers.dev.
  if (errors?.[0]?.code === 10007) return undefined;
  throw new Error(`Cloudflare answers ${path}: ${JSON.stringify(errors)}`);
}

/** The texts of wrangler.toml that the account and the address replace. */
function addressEdits(environment: string, config: Config, account: string, host: string) {
  const old = requireOwnHost(config);
  const edits = new Map<string, string>();
  if (config.account_id !== account) edits.set(`"${environment}-account-id"`, `"${account}"`);
  if (old !== host) {
    edits.set(`routes = [{ pattern = "${old}", custom_domain = true }]`, 'workers_dev = true');
    edits.set(`"https://${old}/v1"`, `"https://${host}/v1"`);
  }
  return edits;
}

function stepsOf(environment: DeployedEnvironment, config: Config, signal: AbortSignal): Step[] {
  /** Of the last command. */
  let output = '';
  const wrangler = (command: string, check?: (output: string) => void): Step => ({
    what: `npx wrangler ${command} --env ${environment}`,
    run: async () => {
      output = await runWranglerIn(environment, command.split(' '), { signal });
      console.error(output);
      check?.(output);
    },
  });
  const writeId = (placeholder: string): Step => ({
    what: `in wrangler.toml, replace ${placeholder} by the id`,
    run: () => {
      // Wrangler prints the lines of wrangler.toml for what it has created.
      const [, id] = /id = "([\w-]+)"/.exec(output) ?? [];
      if (!id) throw new Error('wrangler has printed no id');
      editConfig(new Map([[placeholder, id]]));
    },
  });
  const [databaseId = '', namespaceId = ''] = idsOf(config);
  return [
    wrangler(`d1 create ${config.d1_databases[0]?.database_name}`),
    writeId(databaseId),
    // Wrangler puts the environment before this name.
    wrangler(`kv namespace create ${config.topLevelName}-api-keys`),
    writeId(namespaceId),
    // The description names the address.
    { what: 'npm run openapi', run: () => execFileSync(process.execPath, [OPENAPI]) },
    wrangler('d1 migrations apply DB --remote', requireMigrated),
    // --no-x-provision: otherwise wrangler creates a database for a binding without an id.
    wrangler('deploy --no-x-provision'),
  ];
}

/** Replaces texts of wrangler.toml, and then the whole file at once. */
function editConfig(edits: Map<string, string>): void {
  let text = readFileSync(CONFIG, 'utf8');
  for (const [from, to] of edits) {
    requireOnce(from);
    text = text.replace(from, to);
  }
  writeFileSync(`${CONFIG}.new`, text);
  renameSync(`${CONFIG}.new`, CONFIG);
}

/** @throws Error unless wrangler.toml has the text exactly once. */
function requireOnce(text: string): void {
  if (readFileSync(CONFIG, 'utf8').split(text).length !== 2)
    throw new Error(`wrangler.toml must have ${text} exactly once`);
}

async function runSteps(steps: Step[]): Promise<void> {
  for (const [i, step] of steps.entries()) {
    console.error(step.what);
    try {
      await step.run();
    } catch (cause) {
      printSteps('Done:', steps.slice(0, i));
      printSteps(LEFT, steps.slice(i));
      if (String(cause).includes('100328')) throw new Error(FREE_PLAN, { cause });
      throw cause;
    }
  }
}

function printSteps(title: string, steps: Step[]): void {
  console.error(title);
  for (const { what } of steps) console.error(`  ${what}`);
}
