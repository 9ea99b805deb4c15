/** Issues an API key: a new one, or the one that replaces another. */
import { randomBytes } from 'node:crypto';
import { recordName, scopesOf } from '../../src/auth/key-record.ts';
import { type Environment, safeMessage } from '../command/command-line.ts';
import { generateKey } from './generate-key.ts';
import { idAndLabel, type StoredRecord, writeRecord } from './records.ts';

/** Generates a key, writes its record, and prints the key, alone on standard output. Returns its id. */
export async function issueKey(
  env: Environment,
  fields: Pick<StoredRecord, 'label' | 'scopes' | 'family' | 'expiresAt'>,
): Promise<string> {
  const key = generateKey(env);
  const id = `key_${randomBytes(6).toString('hex')}`;
  const record = { id, createdAt: new Date().toISOString(), ...fields };
  try {
    await writeRecord(env, await recordName(key), record);
  } catch (cause) {
    const problem = `it is unknown whether KV has the key ${id}, which nobody has seen`;
    const fix = `If a list shows it, revoke it: npm run keys -- list --env ${env}`;
    throw new Error(`${problem}: ${safeMessage(cause)}. ${fix}`, { cause });
  }
  const scopes = scopesOf(record).join(' and ');
  const expiry = record.expiresAt ?? 'never';
  console.error(`Key ${idAndLabel(record)} for ${env}, ${scopes}, expires ${expiry}.`);
  console.error('Save it now. It is not stored and cannot be shown again.');
  console.log(key);
  return id;
}
