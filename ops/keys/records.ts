/**
 * The records of API keys in KV, which wrangler reads and writes. KV holds records under the hashes
 * of keys, never a key.
 */
import { writeFile } from 'node:fs/promises';
import { isDeepStrictEqual } from 'node:util';
import * as z from 'zod/mini';
import { KeyRecord, KV_NAME_PREFIX } from '../../src/auth/key-record.ts';
import { type Environment, reportFailure, visible } from '../command/command-line.ts';
import { withTemporaryFile } from '../command/temporary-file.ts';
import { runWranglerIn } from '../command/wrangler.ts';

/**
 * Stricter than in the worker, because operators paste ids into a shell, and somebody may have
 * planted a record.
 */
const Id = z.string().check(z.regex(/^[A-Za-z0-9][\w-]{0,63}$/));
/**
 * Keeps unknown members. Apart from the id, whatever the worker accepts is valid, so that the
 * commands show and revoke it. `rotatedTo`: the id of the key that has replaced this one, if a
 * rotation has ended.
 */
const StoredRecord = z.looseObject({
  ...KeyRecord.shape,
  id: Id,
  rotatedTo: z.catch(z.nullish(Id), 'another key'),
});
export type StoredRecord = z.infer<typeof StoredRecord>;
/** A key as KV has it: the name and the value of its record. */
export type StoredKey = { name: string; record: StoredRecord };

/** The most values that Cloudflare returns at once. */
const MAX_VALUES = 100;
/**
 * The largest metadata of a value, in bytes: https://developers.cloudflare.com/kv/platform/limits/
 */
const MAX_METADATA = 1024;

/**
 * All keys that KV lists, by time of creation. Reads the values, because the worker does not use
 * the metadata. Reports an invalid record as a failure, and goes on.
 */
export async function readKeys(env: Environment): Promise<StoredKey[]> {
  const listed: { name: string; metadata?: StoredRecord }[] = JSON.parse(
    await kv(env, ['key', 'list', '--prefix', KV_NAME_PREFIX]),
  );
  const names = listed.map(({ name }) => name);
  const keys: StoredKey[] = [];
  for (let read = 0; read < names.length; read += MAX_VALUES) {
    const values = await readValues(env, names.slice(read, read + MAX_VALUES));
    for (const [name, value] of Object.entries(values)) {
      try {
        keys.push(parseKey(name, value));
      } catch (error) {
        reportFailure(error);
      }
    }
  }
  const metadata = new Map(listed.map((each) => [each.name, each.metadata]));
  for (const key of keys) reportOtherMetadata(key, metadata.get(key.name));
  return keys.sort((a, b) => a.record.createdAt.localeCompare(b.record.createdAt));
}

/**
 * A key that is revoked, for example, could be active again after a restore. Metadata can also be a
 * minute old.
 */
function reportOtherMetadata({ name, record }: StoredKey, metadata = record) {
  if (!isDeepStrictEqual(metadata, record))
    reportFailure(
      `${describeKey(record)}: a restore would write other metadata of ${visible(name)}`,
    );
}

/** Reads values, by name. The value of a record that was deleted after it was listed is `null`. */
function readValues(env: Environment, names: string[]): Promise<Record<string, string | null>> {
  return withTemporaryFile(async (file) => {
    await writeFile(file, JSON.stringify(names));
    // An open beta of wrangler 4.164: its output may change.
    const output = await kv(env, ['bulk', 'get', file]);
    // Cloudflare returns the values themselves, and wrangler's local KV an object around each:
    // https://developers.cloudflare.com/api/resources/kv/subresources/namespaces/methods/bulk_get/
    return JSON.parse(output, (_, part) => ('value' in Object(part) ? part.value : part));
  });
}

/** @throws Error unless there is a valid record with this name. */
export async function readKey(env: Environment, name: string): Promise<StoredKey> {
  return parseKey(name, await kv(env, ['key', 'get', name]));
}

/** @throws Error with the name of the record, unless it is valid. */
function parseKey(name: string, value: string | null): StoredKey {
  try {
    return { name, record: StoredRecord.parse(JSON.parse(value ?? '')) };
  } catch (cause) {
    const problem = `KV has no valid record ${visible(name)}`;
    throw new Error(`${problem}: docs/keys.md#delete-a-record`, { cause });
  }
}

/** Writes a record as the value and, for restores (docs/operations.md), as the metadata. */
export async function writeRecord(env: Environment, name: string, record: StoredRecord) {
  const json = JSON.stringify(record);
  const fits = Buffer.byteLength(json) <= MAX_METADATA;
  if (!fits) console.error('Backups leave this record out, because it has over 1,024 bytes.');
  const metadata = fits ? ['--metadata', json] : [];
  // In a file, because the value of a planted record may be longer than a command line can be.
  await withTemporaryFile(async (file) => {
    await writeFile(file, json);
    await kv(env, ['key', 'put', name, '--path', file, ...metadata]);
  });
}

function kv(env: Environment, args: string[]): Promise<string> {
  const where = env === 'local' ? '--local' : '--remote';
  return runWranglerIn(env, ['kv', ...args, '--binding', 'API_KEYS', where]);
}

/** The key in the words of a message: its id and label. */
export function describeKey({ id, label }: StoredRecord): string {
  return `${id} (${visible(label)})`;
}
