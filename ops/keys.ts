/**
 * `npm run keys`: issues, lists, shows, rotates and revokes API keys, in the local store, even while it is served, or in
 * Cloudflare's KV. KV holds records under the hashes of keys, never a key.
 */
import { randomBytes } from 'node:crypto';
import * as z from 'zod/mini';
import { environmentOfKey, generateKey } from '../src/auth/key-format.ts';
import { KEY_PREFIX, KeyRecord, recordName, scopesOf, stateOf } from '../src/auth/key-record.ts';
import type { Environment } from './command-line.ts';
import {
  confirm,
  createProgram,
  environmentOption,
  oneLine,
  readLine,
  run,
} from './command-line.ts';
import { expiresOption, labelOption, overlapOption } from './key-options.ts';
import { runIn } from './wrangler.ts';

/** Keeps unknown members, which a newer version may have written. */
const WholeRecord = z.looseObject(KeyRecord.shape);
type WholeRecord = z.infer<typeof WholeRecord>;
/** The metadata is the record itself, so that listing needs no reads. */
type Listed = { name: string; metadata?: unknown };

type Options = { env: Environment; yes?: boolean };
type Rotation = Options & { overlap: number };
type NewKey = Options & { label: string; expires?: string; readOnly?: boolean };

const yes = ['--yes', 'do not ask before changing production'] as const;

export const program = createProgram('npm run keys --', 'Issues, rotates and revokes API keys.');
program
  .command('create')
  .description('Issues a key and prints it once.')
  .addOption(environmentOption)
  .addOption(labelOption)
  .addOption(expiresOption)
  .option('--read-only', 'give the key only the scope read (default read and write)')
  .option(...yes)
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
  .command('revoke <id>')
  .description('Revokes a key permanently. Revoking it again changes nothing.')
  .addOption(environmentOption)
  .option(...yes)
  .action(revoke);
program
  .command('rotate <id>')
  .description('Issues a key with the same label and scopes. The old one expires.')
  .addOption(environmentOption)
  .addOption(overlapOption)
  .option(...yes)
  .action(rotate);
if (import.meta.main) await run(program);

async function create({ env, yes, label, expires, readOnly }: NewKey): Promise<void> {
  await confirm('create a key', env, yes);
  const scopes = readOnly ? ['read'] : undefined;
  await issueKey(env, { label, expiresAt: expires, scopes });
}

async function list({ env }: Options): Promise<void> {
  const keys = await listKeys(env);
  const rows = keys.map(({ record }) => ({
    ...record,
    state: stateOf(record),
    scopes: scopesOf(record).join(' '),
  }));
  console.table(rows, ['id', 'label', 'createdAt', 'expiresAt', 'state', 'scopes']);
}

async function show({ env }: Options): Promise<void> {
  const key = (await readLine('Paste the key, and press Enter:')).trim();
  if (environmentOfKey(key) !== env) throw new Error(`it is not a key of --env ${env}`);
  const record = await readRecord(env, await recordName(key));
  console.log(`${record.id} (${record.label}) is ${stateOf(record)}.`);
}

async function revoke(id: string, { env, yes }: Options): Promise<void> {
  // LOCAL_KEY_RECORD (ops/local/store.ts) has this id.
  if (env === 'local' && id === 'local')
    throw new Error(
      'the fixed key of the local store cannot be revoked: npm start would restore it',
    );
  const { name, record } = await keyById(env, id);
  if (record.revokedAt) return console.log(`Key ${id} was already revoked at ${record.revokedAt}.`);
  await confirm(`revoke the key ${id} (${record.label})`, env, yes);
  await writeRecord(env, name, { ...record, revokedAt: new Date().toISOString() });
  const { revokedAt } = await readRecord(env, name);
  if (!revokedAt) throw new Error(`key ${id} is not revoked: run the command again`);
  const effect = 'It stops working within about two minutes, or later if KV is slow.';
  console.log(`Key ${id} is revoked. ${effect}`);
}

async function rotate(id: string, { env, overlap, yes }: Rotation): Promise<void> {
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
  const end = Math.min(Date.now() + overlap, Date.parse(old.expiresAt ?? '') || Infinity);
  const expiresAt = new Date(end).toISOString();
  try {
    // Another operator may have revoked or rotated it since it was read.
    const current = await readRecord(env, name);
    rejectRotation(current);
    await writeRecord(env, name, { ...current, expiresAt, rotatedTo: nextId });
  } catch (cause) {
    const problem = `the new key ${nextId} is issued, but key ${id} is unchanged`;
    throw new Error(`${problem}: ${oneLine(cause)}`, { cause });
  }
  console.error(`The old key ${id} expires at ${expiresAt}.`);
}

/** The expiry of a key that is issued now, and lives as long as another. */
function sameLifetime({ createdAt, expiresAt }: WholeRecord): string | undefined {
  if (!expiresAt) return undefined;
  return new Date(Date.now() + Date.parse(expiresAt) - Date.parse(createdAt)).toISOString();
}

/**
 * The `expiresAt` of a rotated key is the end of its overlap.
 *
 * @throws Error unless the key is active and was not rotated.
 */
function rejectRotation(record: WholeRecord): void {
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
  const listed: Listed[] = JSON.parse(await kv(env, 'list', '--prefix', KEY_PREFIX));
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
  return runIn(env, ['kv', 'key', command, ...args, '--binding', 'API_KEYS', where]);
}
