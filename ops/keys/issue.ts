/** Issues an API key: a new one, or the one that replaces another. */
import { randomBytes } from 'node:crypto';
import { recordName, scopesOf } from '../../src/auth/key-record.ts';
import type { Environment } from '../command/command-line.ts';
import { generateKey } from './generate-key.ts';
import { nameOf, type StoredRecord, writeRecord } from './records.ts';

/** Generates a key, writes its record, and prints the key, alone on standard output. */
export async function issueKey(
  env: Environment,
  fields: Pick<StoredRecord, 'label' | 'scopes' | 'family' | 'expiresAt'>,
) {
  const key = generateKey(env);
  const id = `key_${randomBytes(6).toString('hex')}`;
  const record = { id, createdAt: new Date().toISOString(), ...fields };
  await writeRecord(env, await recordName(key), record);
  const scopes = scopesOf(record).join(' and ');
  const expiry = record.expiresAt ?? 'never';
  console.error(`Key ${nameOf(record)} for ${env}, ${scopes}, expires ${expiry}.`);
  console.error('Save it now. It is not stored and cannot be shown again.');
  console.log(key);
}

/** The time after this many milliseconds, in ISO 8601. */
export function timeAfter(milliseconds: number): string {
  return new Date(Date.now() + milliseconds).toISOString();
}
