/** The records of API keys in KV, which wrangler reads and writes. KV holds records under the hashes of keys, never a key. */
import { randomUUID } from 'node:crypto';
import { rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import * as z from 'zod/mini';
import { KeyRecord, KV_NAME_PREFIX } from '../../src/auth/key-record.ts';
import { type Environment, reportFailure } from '../command/command-line.ts';
import { runWranglerIn } from '../command/wrangler.ts';

/** Narrower than the worker's, because operators paste ids into a shell, and somebody may have planted a record. */
const Id = z.string().check(z.regex(/^[A-Za-z0-9][\w-]{0,63}$/));
/** Keeps unknown members. */
const StoredRecord = z.looseObject({ ...KeyRecord.shape, id: Id, family: z.nullish(Id) });
const StoredKey = z.object({
  name: z.string().check(z.regex(/^key:[0-9a-f]{64}$/)),
  record: StoredRecord,
});
export type StoredRecord = z.infer<typeof StoredRecord>;
export type StoredKey = z.infer<typeof StoredKey>;

/** By name. The value of a record that was deleted after it was listed is `null`. */
type Values = Record<string, { value: string | null }>;
/** The most values that wrangler reads at once. */
const BULK = 100;

/**
 * All keys that KV lists, by time of creation. Reads the values, because the worker does not use the metadata. A record that is
 * not valid is a failure of the command, which goes on.
 */
export async function readKeys(env: Environment): Promise<StoredKey[]> {
  const listed: { name: string }[] = JSON.parse(
    await kv(env, ['key', 'list', '--prefix', KV_NAME_PREFIX]),
  );
  const names = listed.map(({ name }) => name);
  const keys: StoredKey[] = [];
  while (names.length > 0) {
    const values = await readValues(env, names.splice(0, BULK));
    for (const [name, { value }] of Object.entries(values)) {
      try {
        keys.push(parse(env, name, value));
      } catch (error) {
        reportFailure(error);
      }
    }
  }
  return keys.sort((a, b) => a.record.createdAt.localeCompare(b.record.createdAt));
}

async function readValues(env: Environment, names: string[]): Promise<Values> {
  const file = join(tmpdir(), `animal-store-${randomUUID()}.json`);
  try {
    await writeFile(file, JSON.stringify(names));
    return JSON.parse(await kv(env, ['bulk', 'get', file]));
  } finally {
    await rm(file, { force: true });
  }
}

/** @throws Error unless there is a valid record with this name. */
export async function readKey(env: Environment, name: string): Promise<StoredKey> {
  return parse(env, name, await kv(env, ['key', 'get', name]));
}

/** @throws Error with the command that deletes the record, unless it is valid. */
function parse(env: Environment, name: string, value: string | null): StoredKey {
  try {
    return StoredKey.parse({ name, record: JSON.parse(value ?? '') });
  } catch (cause) {
    // In single quotes, a POSIX shell runs nothing of the name.
    const quoted = `'${visible(name).replaceAll("'", "'\\''")}'`;
    const where = env === 'local' ? '--local' : `--remote --env ${env}`;
    const command = `npx wrangler kv key delete ${quoted} --binding API_KEYS ${where}`;
    throw new Error(`KV has no valid record ${quoted}. To delete it: ${command}`, { cause });
  }
}

/**
 * Writes a record as the value, and as the metadata, for restores (docs/operations.md). Returns the value.
 *
 * @throws Error if the record is not valid.
 */
export async function writeRecord(env: Environment, name: string, record: StoredRecord) {
  const json = JSON.stringify(StoredRecord.parse(record));
  await kv(env, ['key', 'put', name, json, '--metadata', json]);
  return json;
}

/**
 * Changes a record, and waits until KV shows the change: it may show its own write late.
 *
 * @throws Error if it does not within five reads.
 */
export async function changeRecord(env: Environment, name: string, record: StoredRecord) {
  const json = await writeRecord(env, name, record);
  for (let reads = 1; reads <= 5; reads += 1) {
    if ((await kv(env, ['key', 'get', name])).trim() === json) return;
    await pause(3_000);
  }
  throw new Error(
    `KV does not show the change of ${nameOf(record)}: list the keys before you repeat it`,
  );
}

function kv(env: Environment, args: string[]): Promise<string> {
  const where = env === 'local' ? '--local' : '--remote';
  return runWranglerIn(env, ['kv', ...args, '--binding', 'API_KEYS', where]);
}

/** How messages name a key. */
export function nameOf({ id, label }: StoredRecord): string {
  return `${id} (${visible(label)})`;
}

/** A text without the characters that a terminal carries out or does not show: controls, formats and line separators. */
export function visible(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '\uFFFD');
}
