/**
 * `npm run keys`: creates, lists, rotates and revokes API keys, in Cloudflare's KV or in the local
 * store, even while the latter is served.
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
import { requireSetUp } from './command/wrangler.ts';
import { generateKey } from './keys/generate-key.ts';
import { parseLabel, timeAfter } from './keys/options.ts';
import {
  describeKey,
  readKey,
  readKeys,
  type StoredKey,
  type StoredRecord,
  writeRecord,
} from './keys/records.ts';

type Options = { env: Environment; yes?: boolean };
/** `expires` and `overlap` below are times: `timeAfter` parses the durations. */
type CreateOptions = Options & { label: string; expires?: string; readOnly?: boolean };

export const program = createProgram(
  'npm run keys --',
  'Creates, lists, rotates and revokes API keys.',
);
addCommand('create', 'Creates a key and prints it once.')
  .requiredOption('--label <text>', 'the owner or purpose, up to 100 characters', parseLabel)
  .option('--expires <duration>', 'time until it expires, such as 90d (default: never)', timeAfter)
  .option('--read-only', 'give the key only the scope read (default: read and write)')
  .addOption(yesOption)
  .action(create);
addCommand('list', 'Lists all keys: id, creation, expiry, state, scopes and label.').action(list);
addCommand('rotate <id>', 'Creates a key with the same label and scopes. The old one expires.')
  .option(
    '--overlap <duration>',
    'longest time until the old key expires (default: 24h)',
    timeAfter,
  )
  .addOption(yesOption)
  .action(rotate);
addCommand(
  'revoke [id]',
  'Revokes the key with this id. Without an id, it reads the key from standard input.',
)
  .addOption(yesOption)
  .action(revoke);
if (import.meta.main) await run(program);

function addCommand(usage: string, description: string) {
  const command = program.command(usage).description(description).addOption(environmentOption);
  // Checked first: nobody should correct the other options for an environment that is not set up.
  return command.on('option:env', (env: Environment) => {
    if (env !== 'local') requireSetUp(env);
  });
}

async function create({ env, yes, label, expires, readOnly }: CreateOptions) {
  await confirm('create a key', env, yes);
  // Without scopes, a key may read and write.
  const scopes = readOnly ? ['read'] : undefined;
  await issueKey(env, { label, expiresAt: expires, scopes });
}

async function list({ env }: Options) {
  const keys = await readKeys(env);
  console.error('id\tcreated\texpires\tstate\tscopes\tlabel');
  for (const { record } of keys) {
    const { id, createdAt, expiresAt, label } = record;
    const scopes = scopesOf(record).join('+');
    // The label is last, because its text is free. `visible` replaces tabs and line breaks.
    const row = [id, createdAt, expiresAt ?? 'never', stateOf(record), scopes, visible(label)];
    console.log(row.join('\t'));
  }
}

async function rotate(id: string, { env, yes, overlap }: Options & { overlap?: string }) {
  // There is at least one key, but the type does not say so.
  const [key, ...others] = await findKeys(env, id);
  if (!key || others.length > 0)
    throw new Error('several records have this id: revoke it, and create a key');
  await confirm(`rotate the key ${describeKey(key.record)}`, env, yes);
  // Reads the key again, because another operator may have changed it before the confirmation.
  const { name, record: old } = await readKey(env, key.name);
  // The first rotation has shortened the key's lifetime, and a second new key would inherit that.
  if (old.rotatedTo)
    throw new Error(
      `the key ${describeKey(old)} was replaced by ${old.rotatedTo}: rotate that one`,
    );
  const state = stateOf(old);
  if (state !== 'active') throw new Error(`the key ${describeKey(old)} is ${state}`);
  // First creates the new key: if the change of the old one fails, the client still has a valid
  // key.
  const rotatedTo = await issueKey(env, {
    label: old.label,
    scopes: scopesOf(old),
    // The same family, so that an Idempotency-Key sent with the old key stays valid with the new
    // one.
    family: old.family ?? old.id,
    expiresAt: renewExpiry(old),
  });
  const end = overlap ?? timeAfter('24h');
  // Times in ISO 8601 can be compared as texts. If one has no seconds, the result is exact to the
  // minute.
  const expiresAt = old.expiresAt && old.expiresAt < end ? old.expiresAt : end;
  await writeRecord(env, name, { ...old, expiresAt, rotatedTo });
  console.error('The old key', describeKey(old), 'expires at', expiresAt);
}

/** The expiry of a key that is created now, and gets the lifetime of the old one. */
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
  const description = describeKey(record);
  if (record.revokedAt)
    return console.log('Key', description, 'was already revoked at', record.revokedAt);
  await confirm(`revoke the key ${description}`, env, yes);
  await writeRecord(env, name, { ...record, revokedAt: new Date().toISOString() });
  console.log(
    'Key',
    description,
    'is revoked. It usually stops working everywhere within minutes.',
  );
  console.log('A rotation at the same time can undo this. Revoke again in two minutes:');
  console.log('npm run keys -- revoke', record.id, '--env', env);
}

/**
 * The keys with an id. If there are several, somebody has planted one, and their names are printed.
 *
 * @throws Error if there is none.
 */
async function findKeys(env: Environment, id: string): Promise<StoredKey[]> {
  const keys = (await readKeys(env)).filter(({ record }) => record.id === id);
  if (keys.length > 1)
    console.error('Records with this id:', ...keys.map(({ name }) => visible(name)));
  if (keys.length > 0) return keys;
  throw new Error(
    'there is no key with this id (Cloudflare lists a new one within about a minute; revoke without an id reads the key itself)',
  );
}

/**
 * Reads a key from standard input, and its record from KV, even if KV does not list the record yet.
 */
async function readKeyOfInput(env: Environment): Promise<StoredKey> {
  const key = (await readLine('Paste the key, and press Enter:')).trim();
  if (environmentOfKey(key) !== env)
    throw new Error(`the input is not an API key of --env ${env}: paste the key alone`);
  return readKey(env, await recordName(key));
}

/**
 * Generates a key, writes its record, and prints the key, which is all of standard output. Returns
 * the id of the record.
 */
async function issueKey(
  env: Environment,
  fields: Pick<StoredRecord, 'label' | 'scopes' | 'family' | 'expiresAt'>,
) {
  const key = generateKey(env);
  const id = `key_${randomBytes(6).toString('hex')}`;
  const record = { id, createdAt: new Date().toISOString(), ...fields };
  await writeRecord(env, await recordName(key), record);
  const scopes = scopesOf(record).join(' and ');
  const expiry = record.expiresAt ?? 'never';
  console.error(`Key ${describeKey(record)} for ${env}, ${scopes}, expires ${expiry}.`);
  console.error('Save it now. It is not stored and cannot be shown again.');
  console.log(key);
  // Nobody has the key then, so a rotation must not end the old one.
  if (process.stdout.errored) throw process.stdout.errored;
  return id;
}
