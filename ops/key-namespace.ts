/**
 * The records of API keys in KV, read and written through wrangler: the local store's, also while it is
 * served, or Cloudflare's. What passes is records under the hashes of keys, never a key.
 */
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as z from 'zod/mini';
import { generateKey } from '../src/keys/format.ts';
import { KEY_PREFIX, KeyRecord, recordName, type Scope } from '../src/keys/record.ts';
import { runWrangler } from './wrangler.ts';

export type Environment = 'local' | 'staging' | 'production';

/** A record, and the name under which KV holds it. */
export type StoredKey = { name: string; record: WholeRecord };

/** What wrangler lists. The metadata is the record itself, so that listing costs no reads. */
const Listing = z.array(z.object({ name: z.string(), metadata: z.optional(z.unknown()) }));

/** Unknown members are kept: a newer version may have written them. */
const WholeRecord = z.looseObject(KeyRecord.shape);
type WholeRecord = z.infer<typeof WholeRecord>;

/**
 * All records, in the order in which the keys were created. What is no record is left out, and named
 * on standard error: it must not keep an operator from revoking a key.
 *
 * @throws Error when wrangler fails.
 */
export async function listKeys(environment: Environment): Promise<StoredKey[]> {
  const listed = await kv(environment, 'list', ['--prefix', KEY_PREFIX]);
  const keys: StoredKey[] = [];
  for (const { name, metadata } of Listing.parse(JSON.parse(listed))) {
    const inMetadata = WholeRecord.safeParse(metadata);
    const record = inMetadata.success ? inMetadata.data : await readRecord(environment, name);
    if (record) keys.push({ name, record });
    else console.error(`warning: KV holds something that is no record under ${name.slice(0, 16)}…`);
  }
  return keys.sort((a, b) => a.record.createdAt.localeCompare(b.record.createdAt));
}

/**
 * A record with all its members as KV has it now, or `undefined` when it is none. (A list can be older.)
 *
 * @throws Error when wrangler fails.
 */
export async function readRecord(
  environment: Environment,
  name: string,
): Promise<WholeRecord | undefined> {
  const stored = await kv(environment, 'get', [name]);
  try {
    return WholeRecord.parse(JSON.parse(stored));
  } catch {
    return undefined;
  }
}

/** The scopes of a key that cannot write. */
export const READ_ONLY: Scope[] = ['read'];

type NewKey = {
  expires?: Date | undefined;
  family?: string;
  /** Default: read and write. */
  scopes?: string[] | undefined;
};

/** Makes a key and writes its record. The key is in nothing but what this returns. */
export async function issueKey(
  environment: Environment,
  label: string,
  { expires, family, scopes }: NewKey = {},
): Promise<{ key: string; record: KeyRecord }> {
  const key = generateKey(environment);
  const record: KeyRecord = {
    id: `key_${randomBytes(6).toString('hex')}`,
    label,
    createdAt: new Date().toISOString(),
    ...(expires && { expiresAt: expires.toISOString() }),
    ...(scopes && { scopes }),
    ...(family && { family }),
  };
  await putKey(environment, { name: recordName(key), record });
  return { key, record };
}

/** Writes a record, in place of the one that is there. */
export async function putKey(environment: Environment, { name, record }: StoredKey): Promise<void> {
  const json = JSON.stringify(WholeRecord.parse(record));
  // Through a file: wrangler prints a value that it is given as an argument.
  const folder = await mkdtemp(join(tmpdir(), 'animal-store-'));
  try {
    const path = join(folder, 'record.json');
    await writeFile(path, json);
    await kv(environment, 'put', [name, '--path', path, '--metadata', json]);
  } finally {
    await rm(folder, { recursive: true });
  }
}

function kv(environment: Environment, command: string, args: string[]): Promise<string> {
  const where = environment === 'local' ? ['--local'] : ['--remote', '--env', environment];
  return runWrangler(['kv', 'key', command, ...args, '--binding', 'API_KEYS', ...where]);
}
