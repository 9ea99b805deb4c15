/**
 * `npm run keys`: creates, lists, rotates and revokes API keys, in the local store, even while it is served, or in Cloudflare's
 * KV.
 */
import { randomBytes } from 'node:crypto';
import { environmentOfKey } from '../src/auth/key-format.ts';
import { recordName, scopesOf, stateOf } from '../src/auth/key-record.ts';
import {
  confirm,
  createProgram,
  type Environment,
  environmentOption,
  readLine,
  reportFailure,
  run,
  visible,
  yesOption,
} from './command/command-line.ts';
import { generateKey } from './keys/generate-key.ts';
import { parseLabel, timeAfter } from './keys/options.ts';
import {
  changeRecord,
  nameOf,
  readKey,
  readKeys,
  type StoredKey,
  type StoredRecord,
  writeRecord,
} from './keys/records.ts';
import { LOCAL_KEY_RECORD } from './local/store.ts';

type Options = { env: Environment; yes?: boolean };
type NewKey = Options & { label: string; expires?: string; readOnly?: boolean };

export const program = createProgram('npm run keys --', 'Creates, rotates and revokes API keys.');
addCommand('create', 'Creates a key and prints it once.')
  .requiredOption('--label <text>', 'the owner or purpose, up to 100 characters', parseLabel)
  .option('--expires <duration>', 'time until it expires, such as 90d (default: never)', timeAfter)
  .option('--read-only', 'give the key only the scope read (default: read and write)')
  .addOption(yesOption)
  .action(create);
addCommand('list', 'Lists all keys: id, label, scopes, creation, expiry and state.').action(list);
addCommand('rotate <id>', 'Creates a key with the same label and scopes. The old one expires.')
  .option('--overlap <duration>', 'time until the old key expires (default: 24h)', timeAfter)
  .addOption(yesOption)
  .action(rotate);
addCommand('revoke [id]', 'Revokes a key: by its id, or reads the key from standard input.')
  .addOption(yesOption)
  .action(revoke);
if (import.meta.main) await run(program);

function addCommand(usage: string, description: string) {
  return program.command(usage).description(description).addOption(environmentOption);
}

async function create({ env, yes, label, expires, readOnly }: NewKey) {
  await confirm('create a key', env, yes);
  // Without scopes, a key may read and write.
  const scopes = readOnly ? ['read'] : undefined;
  await issueKey(env, { label, expiresAt: expires, scopes });
}

async function list({ env }: Options) {
  const rows = (await readKeys(env)).map(({ record }) => ({
    ...record,
    label: visible(record.label),
    state: stateOf(record),
    scopes: scopesOf(record).join(' and '),
  }));
  console.table(rows, ['id', 'label', 'createdAt', 'expiresAt', 'state', 'scopes']);
}

async function rotate(id: string, { env, yes, overlap }: Options & { overlap?: string }) {
  const [key, ...others] = await findKeys(env, id);
  if (!key || others.length > 0)
    throw new Error('several records have this id: revoke it, and create a key');
  await confirmChange('rotate', env, key.record, yes);
  // Another operator may have changed the key before the answer.
  const { name, record: old } = await readKey(env, key.name);
  // The overlap has shortened its life, which a second new key would inherit.
  if (old.rotatedTo)
    throw new Error(`the key ${nameOf(old)} was replaced by ${old.rotatedTo}: rotate that one`);
  const state = stateOf(old);
  if (state !== 'active') throw new Error(`the key ${nameOf(old)} is ${state}`);
  // The new key first: if the second change fails, the client has a valid key.
  const rotatedTo = await issueKey(env, {
    label: old.label,
    scopes: scopesOf(old),
    // The same family, so that an Idempotency-Key sent with the old key stays valid with the new one.
    family: old.family ?? old.id,
    expiresAt: renewExpiry(old),
  });
  const end = overlap ?? timeAfter('24h');
  // Times in ISO 8601 can be compared as texts. If one has no seconds, the result is exact to the minute.
  const expiresAt = old.expiresAt && old.expiresAt < end ? old.expiresAt : end;
  await changeRecord(env, name, { ...old, expiresAt, rotatedTo });
  console.error('The old key', nameOf(old), 'expires at', expiresAt);
}

/** The expiry of a key that is created now, and lives as long as the old one. */
function renewExpiry({ createdAt, expiresAt }: StoredRecord): string | undefined {
  if (!expiresAt) return undefined;
  const lifetime = Date.parse(expiresAt) - Date.parse(createdAt);
  return new Date(Date.now() + lifetime).toISOString();
}

async function revoke(id: string | undefined, { env, yes }: Options) {
  const keys = id ? await findKeys(env, id) : [await readKeyOfInput(env)];
  // If one key cannot be revoked, the others still are.
  for (const key of keys) await revokeKey(env, key, yes).catch(reportFailure);
}

async function revokeKey(env: Environment, { name, record }: StoredKey, yes?: boolean) {
  const key = nameOf(record);
  if (record.revokedAt) {
    console.log('Key', key, 'was already revoked at', record.revokedAt);
    return;
  }
  await confirmChange('revoke', env, record, yes);
  await changeRecord(env, name, { ...record, revokedAt: new Date().toISOString() });
  console.log('Key', key, 'is revoked. It stops working everywhere within some minutes.');
  console.log('A rotation at the same time can undo this. Look again in two minutes:');
  console.log('npm run keys -- revoke', record.id, '--env', env);
}

/** The keys with an id. If somebody has planted a record, there are several, whose names are printed. */
async function findKeys(env: Environment, id: string): Promise<StoredKey[]> {
  const keys = (await readKeys(env)).filter(({ record }) => record.id === id);
  if (keys.length > 1) console.error('Records with this id:', ...keys.map(({ name }) => name));
  if (keys.length > 0) return keys;
  const problem = 'there is no key with this id';
  if (env === 'local') throw new Error(problem);
  const reason =
    'a new key is listed within about a minute; revoke without an id reads the key itself';
  throw new Error(`${problem}: ${reason}`);
}

/** The key that is read from standard input, also one that KV does not list yet. */
async function readKeyOfInput(env: Environment): Promise<StoredKey> {
  const key = (await readLine('Paste the key, and press Enter:')).trim();
  if (environmentOfKey(key) !== env)
    throw new Error(`it is not an API key of --env ${env}: paste the key alone`);
  return readKey(env, await recordName(key));
}

async function confirmChange(
  change: string,
  env: Environment,
  record: StoredRecord,
  yes?: boolean,
) {
  if (env === 'local' && record.id === LOCAL_KEY_RECORD.id)
    throw new Error('the fixed key of the local store cannot change: npm start would restore it');
  await confirm(`${change} the key ${nameOf(record)}`, env, yes);
}

/** Generates a key, writes its record, and prints the key, alone on standard output. Returns the id. */
async function issueKey(
  env: Environment,
  fields: Pick<StoredRecord, 'label' | 'scopes' | 'family' | 'expiresAt'>,
) {
  const key = generateKey(env);
  const id = `key_${randomBytes(6).toString('hex')}`;
  const record = { id, createdAt: new Date().toISOString(), ...fields };
  console.error('Writing the record of the new key …');
  await writeRecord(env, await recordName(key), record);
  const scopes = scopesOf(record).join(' and ');
  const expiry = record.expiresAt ?? 'never';
  console.error(`Key ${nameOf(record)} for ${env}, ${scopes}, expires ${expiry}.`);
  console.error('Save it now. It is not stored and cannot be shown again.');
  console.log(key);
  return id;
}
