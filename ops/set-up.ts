/**
 * `npm run set-up`: creates what an environment needs at Cloudflare, deploys it, and makes a key. It finds what an earlier run has
 * created, and goes on. docs/set-up.md explains it.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { Argument } from 'commander';
import {
  confirm,
  createProgram,
  type DeployedEnvironment,
  readLine,
  run,
  yesOption,
} from './command/command-line.ts';
import { PROJECT_ROOT } from './command/project-root.ts';
import { readConfig, readResult, runWranglerIn } from './command/wrangler.ts';

type Options = { domain?: string; free?: true; yes?: true };

export const program = createProgram('npm run set-up --', 'Sets an environment up at Cloudflare.')
  .addArgument(new Argument('<environment>').choices(['staging', 'production']))
  .option('--domain <host>', 'a host of your own, in a zone of the account')
  .option('--free', 'leave out the limits of CPU time, which the Free plan rejects')
  .addOption(yesOption)
  .action(setUp);

/** A database has a `name` and a `uuid`, and a KV namespace a `title` and an `id`. */
type Item = { name?: string; uuid?: string; title?: string; id?: string };

async function setUp(env: DeployedEnvironment, { domain, free, yes }: Options) {
  await confirm('create what is missing, and deploy what is checked out', env, yes);
  if (free) edit(/^\[(env\.\w+\.)?limits\]\ncpu_ms = .*\n\n/gm, '');
  const { account_id: account, name = '', vars } = await readConfig(env);
  if (account === `${env}-account-id`) edit(account, await readAccount(env));
  // The name is that of the database, too. Wrangler puts the environment before the title of a namespace.
  const database = await findOrCreate(env, ['d1', 'list', '--json'], name, ['d1', 'create', name]);
  edit(`${env}-database-id`, database);
  const title = 'animal-store-api-keys';
  const kv = ['kv', 'namespace'];
  const keys = [...kv, 'create', title];
  edit(`${env}-api-keys-id`, await findOrCreate(env, [...kv, 'list'], `${env}-${title}`, keys));
  const example = new URL(String(vars.BASE_URL)).host;
  if (example.endsWith('.example')) {
    const host = domain ?? (await readLine('A host of your own (empty: one at workers.dev):'));
    const routes = `routes = [{ pattern = "${example}", custom_domain = true }]`;
    edit(routes, host ? routes.replace(example, host) : 'workers_dev = true');
    edit(`https://${example}/`, `https://${host || (await deploy(env))}/`);
  }
  await runWranglerIn(env, ['d1', 'migrations', 'apply', 'DB', '--remote'], { detached: true });
  await deploy(env);
  const create = ['create', '--label', 'Set-up', '--env', env, '--yes'];
  const key = execFileSync(process.execPath, ['ops/keys.ts', ...create], { encoding: 'utf8' });
  console.error('Commit the changed files. A new address needs some minutes, and a key a minute:');
  const { BASE_URL } = (await readConfig(env)).vars;
  console.log(`curl -i ${BASE_URL}/pets -H 'Authorization: Bearer ${key.trim()}'`);
}

function edit(from: string | RegExp, to: string) {
  const text = readFileSync('wrangler.toml', 'utf8');
  writeFileSync(
    'wrangler.toml',
    text.replaceAll(from, () => to),
  );
}

async function readAccount(env: DeployedEnvironment): Promise<string> {
  const user: { accounts: { id: string }[] } = JSON.parse(
    await runWranglerIn(env, ['whoami', '--json']),
  );
  const [account, ...others] = user.accounts;
  if (account && others.length === 0) return account.id;
  const list = JSON.stringify(user.accounts);
  throw new Error(`write the id of one of these accounts in place of ${env}-account-id: ${list}`);
}

/** The id of what has this name. A run that was killed may have created it, or a person, at another location. */
async function findOrCreate(
  env: DeployedEnvironment,
  list: string[],
  name: string,
  create: string[],
): Promise<string> {
  async function find() {
    const items: Item[] = JSON.parse(await runWranglerIn(env, list));
    return items.find((item) => name === (item.title ?? item.name));
  }
  if (!(await find())) await runWranglerIn(env, create, { detached: true });
  const found = await find();
  if (found) return found.uuid ?? found.id ?? '';
  throw new Error(`Cloudflare does not list ${name} yet. Run this again`);
}

/** Deploys what is checked out. Returns its host at workers.dev, if it has one. */
async function deploy(env: DeployedEnvironment) {
  // Writes the address into the description.
  execFileSync(process.execPath, ['ops/openapi.ts']);
  const { targets } = await readResult<{ targets: string[] }>(env, ['deploy']);
  return targets.find((target) => target.endsWith('.workers.dev'))?.replace('https://', '');
}

if (import.meta.main) {
  process.chdir(PROJECT_ROOT);
  await run(program);
}
