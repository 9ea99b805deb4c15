/** The records of API keys in KV, which wrangler reads and writes. KV holds records under the hashes of keys, never a key. */
import * as z from 'zod/mini';
import { KeyRecord, KV_NAME_PREFIX } from '../../src/auth/key-record.ts';
import type { Environment } from '../command/command-line.ts';
import { runWranglerIn } from '../command/wrangler.ts';

/** Accepts what the worker accepts. Keeps unknown members, for example `rotatedTo`, which `rotate` writes. */
const StoredRecord = z.looseObject(KeyRecord.shape);
export type StoredRecord = z.infer<typeof StoredRecord>;

const NOT_LISTED = 'a new key is listed within about a minute; revoke also takes the key itself';
/** Of one call of wrangler. Without it, a hung call ends after some five minutes. */
const LIMIT_MS = 120_000;

/**
 * All keys as a list of KV shows them, by time of creation. The metadata is a copy of the record, so that a list is one call.
 * Somebody who can write to KV can forge it. Records without valid metadata are only counted.
 */
export async function listKeys(env: Environment) {
  const output = await kv(env, ['list', '--prefix', KV_NAME_PREFIX]);
  const listed: { name: string; metadata?: unknown }[] = JSON.parse(output);
  const keys = listed.flatMap(({ name, metadata }) => {
    const { data: record } = StoredRecord.safeParse(metadata);
    return record ? [{ name, record }] : [];
  });
  const invalid = listed.length - keys.length;
  if (invalid > 0)
    console.error(`warning: ${invalid} records in KV have no valid metadata: see docs/keys.md`);
  return keys.sort((a, b) => a.record.createdAt.localeCompare(b.record.createdAt));
}

/** The names of the records that a list shows with this id. There are several if somebody has forged metadata. */
export async function namesById(env: Environment, id: string) {
  // Not quoted, because the output of a command is often shared.
  if (id.startsWith('animal_')) throw new Error('it is a key. To get its id: npm run keys -- show');
  const keys = await listKeys(env);
  const names = keys.filter(({ record }) => record.id === id).map(({ name }) => name);
  if (names.length === 0) throw new Error(`there is no key with the id "${id}": ${NOT_LISTED}`);
  return names;
}

/** @throws Error unless there is a valid record. */
export async function readRecord(env: Environment, name: string, signal?: AbortSignal) {
  const stored = await kv(env, ['get', name], signal);
  try {
    return StoredRecord.parse(JSON.parse(stored));
  } catch {
    throw new Error(`KV has no valid record ${name}`);
  }
}

/** Writes a record, as JSON, as the value and as the metadata. @throws Error if the record, and so its key, is invalid. */
export async function writeRecord(
  env: Environment,
  name: string,
  record: StoredRecord,
  signal?: AbortSignal,
) {
  const json = JSON.stringify(StoredRecord.parse(record));
  await kv(env, ['put', name, json, '--metadata', json], signal);
}

/** Runs a command of `wrangler kv key`. When `signal` is aborted, wrangler is killed; a write may take effect all the same. */
function kv(env: Environment, args: string[], signal?: AbortSignal): Promise<string> {
  const where = env === 'local' ? '--local' : '--remote';
  const command = ['kv', 'key', ...args, '--binding', 'API_KEYS', where];
  return runWranglerIn(env, command, { signal, timeout: LIMIT_MS });
}

/** @throws Error for the key that every local store has: LOCAL_KEY_RECORD (ops/local/store.ts). */
export function requireNotFixed(env: Environment, { id }: StoredRecord) {
  if (env === 'local' && id === 'local')
    throw new Error('the fixed key of the local store cannot change: npm start would restore it');
}

/** @throws Error if the list shows a record with this id that has another one. */
export function requireId(id: string, name: string, record: StoredRecord) {
  if (record.id === id) return;
  const forged = `the list shows ${id} for ${name}, which is of the key ${idAndLabel(record)}`;
  throw new Error(`${forged}: its metadata is forged, see "Planted records" in docs/keys.md`);
}

/** How messages name a key. Its record may be forged: control characters would be carried out by the terminal. */
export function idAndLabel({ id, label }: StoredRecord): string {
  return `${id} (${label})`.replaceAll(/\p{Cc}/gu, '\uFFFD');
}
