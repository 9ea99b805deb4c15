/** `npm run release -- setup`: what an environment needs at Cloudflare, made where it is not there yet. */
import { readFile, writeFile } from 'node:fs/promises';
import { issueKey, listKeys, READ_ONLY } from '../key-namespace.ts';
import { API_KEY_VARIABLE } from './checkup.ts';
import { login } from './cloudflare.ts';
import { editToml } from './config-file.ts';
import { type Account, replicate, withAccount } from './resources.ts';
import type { Steps } from './steps.ts';
import {
  CONFIG,
  type EnvironmentName,
  isExample,
  placeholders,
  readTarget,
  type Target,
} from './target.ts';

const KEY_LABEL = 'Smoke test';

/**
 * @returns the ids, the first API key (`null` when there was one already) and `todo`: what is left for a
 *   person.
 */
export async function setup(
  steps: Steps,
  environment: EnvironmentName,
  accountId: string,
  location: string | undefined,
) {
  const target = readTarget(environment);
  const unset = placeholders(environment);
  if (![unset.accountId, '', accountId].includes(target.accountId)) {
    throw new Error(
      `wrangler.toml has another account for ${environment}, ${target.accountId}: nothing was done`,
    );
  }
  await steps.look('check the login', login);
  const { databaseId, namespaceId, replicated } = await withAccount(accountId, async (account) => {
    const databaseId = await database(account, target, location, steps);
    const namespaceId = await namespace(account, target, steps);
    const replicated = await replication(account, target, { accountId, databaseId }, steps);
    return { databaseId, namespaceId, replicated };
  });
  await steps.take(
    'write the ids into wrangler.toml',
    async () => {
      if (!databaseId || !namespaceId) throw new Error('there are no ids to write');
      await writeIds(environment, { accountId, databaseId, namespaceId });
    },
    undefined,
  );
  const key = await firstKey(environment, steps);
  const todo = [
    ...(replicated || steps.dryRun ? [] : [replicationByHand(target)]),
    ...byHand(target, key !== undefined),
  ];
  if (key && !steps.json) {
    steps.say('The first API key, for the smoke test. Keep it now: it cannot be shown again.');
    steps.say(`\n  ${key}\n`);
  }
  if (todo.length > 0) steps.say('What is left to do:');
  for (const line of todo) steps.say(`  - ${line}`);
  const ids = { accountId, databaseId: databaseId ?? null, namespaceId: namespaceId ?? null };
  return { environment, ...ids, replicated, key: key ?? null, todo };
}

async function database(
  account: Account,
  { databaseName, databaseId, environment }: Target,
  location: string | undefined,
  steps: Steps,
): Promise<string | undefined> {
  const found = await steps.look(
    `look for the database ${databaseName}`,
    () => account.findDatabase(databaseName),
    (id) => id ?? 'there is none',
  );
  refuseOther(databaseName, databaseId, found, placeholders(environment).databaseId);
  if (found && location) steps.say(`It stays where it is: ${location} is for a new one.`);
  return (
    found ??
    steps.take(
      `create it${location ? ` in ${location}` : ''}`,
      () => account.createDatabase(databaseName, location),
      undefined,
      (id) => id ?? '',
    )
  );
}

async function namespace(
  account: Account,
  { worker, namespaceId, environment }: Target,
  steps: Steps,
): Promise<string | undefined> {
  const title = `${worker}-api-keys`;
  const found = await steps.look(
    `look for the KV namespace ${title}`,
    () => account.findNamespace(title),
    (id) => id ?? 'there is none',
  );
  refuseOther(title, namespaceId, found, placeholders(environment).namespaceId);
  return (
    found ??
    steps.take(
      'create it',
      () => account.createNamespace(title),
      undefined,
      (id) => id ?? '',
    )
  );
}

/** What wrangler.toml names already is not quietly replaced: it may hold data. */
function refuseOther(name: string, known: string, found: string | undefined, unset: string): void {
  if (known === unset || known === '' || known === found) return;
  throw new Error(
    `wrangler.toml has ${known} for ${name}, but in this account that is ${found ?? 'not there'}: take the wrong one away, and run this again`,
  );
}

/** Whether reads can be answered by replicas: switched on where we may. */
async function replication(
  account: Account,
  { databaseName }: Target,
  { accountId, databaseId }: { accountId: string; databaseId: string | undefined },
  steps: Steps,
): Promise<boolean> {
  const check = async () => databaseId !== undefined && account.isReplicated(databaseId);
  const inWords = (on: boolean) => (on ? 'on' : 'off');
  if (await steps.look('look at read replication', check, inWords)) return true;
  const asked = await steps.take(
    'switch read replication on',
    async () => databaseId !== undefined && replicate(accountId, databaseId),
    false,
    (done) => (done ? 'asked for' : 'not with this login: see below'),
  );
  if (!asked) return false;
  const on = await steps.look('look at it again', check, inWords);
  if (!on) throw new Error(`read replication of ${databaseName} is still off`);
  return on;
}

async function writeIds(
  environment: EnvironmentName,
  ids: Pick<Target, 'accountId' | 'databaseId' | 'namespaceId'>,
): Promise<void> {
  const text = await readFile(CONFIG, 'utf8');
  const edited = editToml(text, [
    { table: `[env.${environment}]`, name: 'account_id', value: ids.accountId },
    { table: `[[env.${environment}.d1_databases]]`, name: 'database_id', value: ids.databaseId },
    { table: `[[env.${environment}.kv_namespaces]]`, name: 'id', value: ids.namespaceId },
  ]);
  if (edited !== text) await writeFile(CONFIG, edited);
}

/** The first key of the environment, or `undefined` when there is one. */
async function firstKey(environment: EnvironmentName, steps: Steps): Promise<string | undefined> {
  // A dry run has not written the ids.
  if (readTarget(environment).namespaceId === placeholders(environment).namespaceId) {
    await steps.take('make the first API key', async () => undefined, undefined);
    return undefined;
  }
  const keys = await steps.look(
    'look for API keys',
    () => listKeys(environment),
    (found) => `${found.length}`,
  );
  if (keys.length > 0) {
    steps.say(
      `There are keys; a lost one is replaced with npm run keys -- rotate <id> --env ${environment}`,
    );
    return undefined;
  }
  return steps.take(
    'make the first API key',
    async () => {
      // In production the smoke test only reads.
      const scopes = environment === 'production' ? READ_ONLY : undefined;
      return (await issueKey(environment, KEY_LABEL, { scopes })).key;
    },
    undefined,
  );
}

function replicationByHand({ databaseName }: Target): string {
  return (
    `switch read replication on: https://dash.cloudflare.com/?to=/:account/workers/d1, ${databaseName}, ` +
    'Settings, Enable Read Replication; or set CLOUDFLARE_API_TOKEN to a token with D1 Edit and run this again'
  );
}

/** What no command can do. */
function byHand(target: Target, hasNewKey: boolean): string[] {
  const { environment, baseUrl } = target;
  const { host } = new URL(baseUrl);
  const todo: string[] = [];
  if (isExample(target)) {
    todo.push(
      `choose the address: in wrangler.toml, set BASE_URL and routes of [env.${environment}] in place of ${host}`,
      'have its domain in the same account at Cloudflare: the DNS record and the certificate then make themselves',
      'run npm run openapi: the description names the address, too',
    );
  }
  if (hasNewKey) {
    todo.push(
      `put the new key into ${API_KEY_VARIABLE}, and into the secrets of the CI environment`,
    );
  }
  if (isExample(target) || hasNewKey) todo.push('commit wrangler.toml');
  return todo;
}
