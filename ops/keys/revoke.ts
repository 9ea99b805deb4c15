/** Revokes API keys: `npm run keys -- revoke`. */
import { setTimeout as pause } from 'node:timers/promises';
import { confirm, type Environment, safeMessage } from '../command/command-line.ts';
import type { StoredRecord } from './records.ts';
import { idAndLabel, readRecord, requireId, requireNotFixed, writeRecord } from './records.ts';

/** Longer than a rotation has from its last read of a record to the end of its write (12 s). */
const LOOK_AGAIN_MS = 15_000;

/** Revokes the keys of these records, each also if another one cannot be revoked. `id`: the one they are listed with. */
export async function revokeAll(env: Environment, names: string[], id?: string, yes?: boolean) {
  if (names.length > 1) console.error(safeMessage(`Records with this id: ${names.join(', ')}`));
  const failures: string[] = [];
  for (const name of names) {
    try {
      const record = await revokeKey(env, name, yes);
      // Afterwards, because a key with a forged id is no longer to be trusted. The key with this id may be another one.
      if (id) requireId(id, name, record);
    } catch (error) {
      failures.push(safeMessage(error));
    }
  }
  if (failures.length > 0) throw new Error(failures.join('; '));
}

/**
 * KV has no transactions. A rotation that has read the record before can overwrite the revocation, which is then repeated:
 *
 *     rotate    read ────────────── write expiry           within 12 s
 *     revoke         write revocation ─────────────────────────── 15 s ── read, write revocation
 *
 * The second revocation is not overwritten: no rotation begins with a key that is rotated.
 */
async function revokeKey(env: Environment, name: string, yes?: boolean): Promise<StoredRecord> {
  const record = await readRecord(env, name);
  requireNotFixed(env, record);
  const key = idAndLabel(record);
  if (record.revokedAt) {
    console.log(`Key ${key} was already revoked at ${record.revokedAt}.`);
    return record;
  }
  await confirm(`revoke the key ${key}`, env, yes);
  try {
    await writeRevocation(env, name, record);
  } catch (cause) {
    const problem = `it is unknown whether the key ${key} is revoked: ${safeMessage(cause)}`;
    throw new Error(`${problem}. Run the command again`, { cause });
  }
  console.log(`Key ${key} is revoked. It stops working everywhere within some minutes.`);
  // A rotation in a place where KV still shows the old record overwrites it without an error.
  const command = `npm run keys -- revoke ${record.id} --env ${env}`;
  console.log(safeMessage(`Look again in two minutes: ${command}`));
  return record;
}

async function writeRevocation(env: Environment, name: string, record: StoredRecord) {
  const revokedAt = new Date().toISOString();
  await writeRecord(env, name, { ...record, revokedAt });
  console.log('This takes 15 s …');
  await pause(LOOK_AGAIN_MS);
  let current = await readRecord(env, name);
  if (!current.revokedAt) {
    console.log('KV does not show the revocation, so it is written again.');
    await writeRecord(env, name, { ...current, revokedAt });
    current = await readRecord(env, name);
  }
  if (!current.revokedAt) throw new Error('KV does not show the revocation');
}
