/**
 * `npm run keys`: issues, lists, shows, rotates and revokes API keys, in the local store, even while it is served, or in
 * Cloudflare's KV. KV holds records under the hashes of keys, never a key.
 */
import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import * as z from 'zod/mini';
import { environmentOfKey } from '../src/auth/key-format.ts';
import {
  KeyRecord,
  KV_NAME_PREFIX,
  recordName,
  scopesOf,
  stateOf,
} from '../src/auth/key-record.ts';
import type { Environment } from './command-line.ts';
import {
  confirm,
  createProgram,
  environmentOption,
  readLine,
  run,
  safeMessage,
} from './command-line.ts';
import { generateKey } from './generate-key.ts';
import { expiresOption, labelOption, overlapOption } from './key-options.ts';
import { runWranglerIn } from './wrangler.ts';

/** Keeps unknown members, which a newer version may have written. `rotatedTo` is for these commands alone. */
const WholeRecord = z.looseObject({ ...KeyRecord.shape, rotatedTo: z.optional(z.string()) });
type WholeRecord = z.infer<typeof WholeRecord>;
/** The metadata is the record itself, so that listing needs no reads. */
type Listed = { name: string; metadata?: unknown };

type Options = { env: Environment; yes?: boolean };
type Rotation = Options & { overlap: number };
type NewKey = Options & { label: string; expires?: string; readOnly?: boolean };

const yesOption = ['--yes', 'do not ask before changing production'] as const;

/** Longer than a rotation takes from its last read of a record to its write. */
const ROTATION_MS = 10_000;

const EFFECT = 'It stops working within about two minutes, or later if KV is slow.';

export const program = createProgram('npm run keys --', 'Issues, rotates and revokes API keys.');
program
  .command('create')
  .description('Issues a key and prints it once.')
  .addOption(environmentOption)
  .addOption(labelOption)
  .addOption(expiresOption)
  .option('--read-only', 'give the key only the scope read (default read and write)')
  .option(...yesOption)
  .action(create);
program
  .command('list')
  .description('Lists all keys: id, label, scopes, creation, expiry and state, never the key.')
  .addOption(environmentOption)
  .action(list);
program
  .command('show')
  .description('Reads a key from standard input, and prints its id.')
  .addOption(environmentOption)
  .action(show);
program
  .command('revoke [id]')
  .description('Revokes a key permanently: by its id, or reads the key from standard input.')
  .addOption(environmentOption)
  .option(...yesOption)
  .action(revoke);
program
  .command('rotate <id>')
  .description('Issues a key with the same label and scopes. The old one expires.')
  .addOption(environmentOption)
  .addOption(overlapOption)
  .option(...yesOption)
  .action(rotate);
if (import.meta.main) await run(program);

async function create({ env, yes, label, expires, readOnly }: NewKey) {
  await confirm('create a key', env, yes);
  const scopes = readOnly ? ['read'] : undefined;
  await issueKey(env, { label, expiresAt: expires, scopes });
}

async function list({ env }: Options) {
  const keys = await listKeys(env);
  const rows = keys.map(({ record }) => ({
    ...record,
    state: stateOf(record),
    scopes: scopesOf(record).join(' '),
  }));
  console.table(rows, ['id', 'label', 'createdAt', 'expiresAt', 'state', 'scopes']);
}

async function show({ env }: Options) {
  const { record } = await keyFromInput(env);
  console.log(`${record.id} (${record.label}) is ${stateOf(record)}.`);
}

async function revoke(keyId: string | undefined, { env, yes }: Options) {
  const { name, record } = await (keyId ? keyById(env, keyId) : keyFromInput(env));
  const { id, label } = record;
  // LOCAL_KEY_RECORD (ops/local/store.ts) has this id.
  if (env === 'local' && id === 'local')
    throw new Error(
      'the fixed key of the local store cannot be revoked: npm start would restore it',
    );
  if (record.revokedAt) return console.log(`Key ${id} was already revoked at ${record.revokedAt}.`);
  await confirm(`revoke the key ${id} (${label})`, env, yes);
  const revokedAt = new Date().toISOString();
  console.log('This takes 10 s …');
  let current = record;
  // KV has no transactions: a rotation that has read the record before may overwrite the first write.
  for (const delayMs of [ROTATION_MS, 0]) {
    await writeRecord(env, name, { ...current, revokedAt });
    await pause(delayMs);
    current = await readRecord(env, name);
    if (current.revokedAt) return console.log(`Key ${id} is revoked.`, EFFECT);
    console.log('Another command has overwritten the revocation.');
  }
  throw new Error(`key ${id} is not revoked: run the command again`);
}

async function rotate(id: string, { env, overlap, yes }: Rotation) {
  const { name, record: old } = await keyById(env, id);
  rejectRotation(old);
  await confirm(`rotate the key ${id} (${old.label})`, env, yes);
  // Printed before anything else can fail, because the key cannot be shown again.
  const nextId = await issueKey(env, {
    label: old.label,
    scopes: scopesOf(old),
    // The same family, so that an Idempotency-Key sent with the old key stays valid with the new one.
    family: old.family ?? id,
    expiresAt: sameLifetime(old),
  });
  try {
    const end = await expireKey(env, name, nextId, overlap);
    console.error(`The old key ${id} expires at ${end}.`);
  } catch (cause) {
    const fix = `To see both: npm run keys -- list --env ${env}`;
    throw new Error(`the new key ${nextId} is issued, but ${safeMessage(cause)}. ${fix}`, {
      cause,
    });
  }
}

/** Ends a key after the overlap, unless it ends before. Returns its expiry. @throws Error that says what is known of the key. */
async function expireKey(env: Environment, name: string, rotatedTo: string, overlap: number) {
  // Another operator may have revoked or rotated it since it was read.
  const old = await readRecord(env, name);
  rejectRotation(old);
  const oldEnd = old.expiresAt ? Date.parse(old.expiresAt) : Infinity;
  const expiresAt = new Date(Math.min(Date.now() + overlap, oldEnd)).toISOString();
  let failure = 'another command has changed it';
  try {
    await writeRecord(env, name, { ...old, expiresAt, rotatedTo });
  } catch (error) {
    // It may have taken effect all the same.
    failure = safeMessage(error);
  }
  const current = await readRecord(env, name);
  if (current.revokedAt) throw new Error(`key ${old.id} is revoked`);
  if (current.rotatedTo !== rotatedTo) throw new Error(`key ${old.id} is not rotated: ${failure}`);
  return expiresAt;
}

/** The expiry of a key that is issued now, and lives as long as another. */
function sameLifetime({ createdAt, expiresAt }: WholeRecord): string | undefined {
  if (!expiresAt) return undefined;
  return new Date(Date.now() + Date.parse(expiresAt) - Date.parse(createdAt)).toISOString();
}

/** @throws Error unless the key is active and was not rotated. */
function rejectRotation(record: WholeRecord) {
  const { id, rotatedTo } = record;
  const state = stateOf(record);
  if (state !== 'active') throw new Error(`key ${id} is ${state}`);
  if (rotatedTo) throw new Error(`key ${id} was already rotated: rotate ${rotatedTo} instead`);
}

/** Generates a key, writes its record, and prints the key, alone on standard output. Returns its id. */
async function issueKey(
  env: Environment,
  fields: Pick<WholeRecord, 'label' | 'scopes' | 'family' | 'expiresAt'>,
): Promise<string> {
  const key = generateKey(env);
  const id = `key_${randomBytes(6).toString('hex')}`;
  const record = { id, createdAt: new Date().toISOString(), ...fields };
  await writeRecord(env, await recordName(key), record);
  const { label, expiresAt } = record;
  console.error(
    `Key ${id} (${label}) for ${env}, ${scopesOf(record)}, expires ${expiresAt ?? 'never'}.`,
  );
  console.error('Save it now. It is not stored and cannot be shown again.');
  console.log(key);
  return id;
}

// --------------------------------------------------------------------------------- the records

/** All records, by time of creation. Those without valid metadata are only counted, so that a list is one call. */
async function listKeys(env: Environment) {
  const listed: Listed[] = JSON.parse(await kv(env, 'list', '--prefix', KV_NAME_PREFIX));
  const keys = listed.flatMap(({ name, metadata }) => {
    const { data: record } = WholeRecord.safeParse(metadata);
    return record ? [{ name, record }] : [];
  });
  const invalid = listed.length - keys.length;
  if (invalid > 0) console.error(`warning: ${invalid} records in KV have no valid metadata`);
  return keys.sort((a, b) => a.record.createdAt.localeCompare(b.record.createdAt));
}

/** The key with this id, with its current record: the metadata of a list can be outdated. */
async function keyById(env: Environment, id: string) {
  // Not quoted, because the output of a command is often shared.
  if (id.startsWith('animal_')) throw new Error('it is a key. To get its id: npm run keys -- show');
  const key = (await listKeys(env)).find(({ record }) => record.id === id);
  if (!key) throw new Error(`there is no key with the id "${id}"`);
  return { name: key.name, record: await readRecord(env, key.name) };
}

/** The key that is read from standard input, also one that a list does not show yet. */
async function keyFromInput(env: Environment) {
  const key = (await readLine('Paste the key, and press Enter:')).trim();
  if (environmentOfKey(key) !== env) throw new Error(`it is not a key of --env ${env}`);
  const name = await recordName(key);
  return { name, record: await readRecord(env, name) };
}

/** @throws Error unless there is a valid record. */
async function readRecord(env: Environment, name: string): Promise<WholeRecord> {
  const stored = await kv(env, 'get', name);
  try {
    return WholeRecord.parse(JSON.parse(stored));
  } catch {
    throw new Error('KV has no valid record of this key');
  }
}

/** Writes a record, as JSON, as the value and as the metadata. */
export async function writeRecord(
  env: Environment,
  name: string,
  record: WholeRecord,
): Promise<void> {
  const json = JSON.stringify(record);
  await kv(env, 'put', name, json, '--metadata', json);
}

/** Runs a command of `wrangler kv key`. */
function kv(env: Environment, command: string, ...args: string[]): Promise<string> {
  const where = env === 'local' ? '--local' : '--remote';
  return runWranglerIn(env, ['kv', 'key', command, ...args, '--binding', 'API_KEYS', where]);
}
