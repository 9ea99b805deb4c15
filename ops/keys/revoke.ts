/** Revokes API keys: `npm run keys -- revoke`. */
import { confirm, type Environment, safeMessage } from '../command/command-line.ts';
import { changeRecord, nameOf, requireNotFixed, type StoredKey } from './records.ts';

/** Revokes these keys, each also if another one cannot be revoked. */
export async function revokeKeys(env: Environment, keys: StoredKey[], yes?: boolean) {
  if (keys.length > 1)
    console.error(`Records with this id: ${keys.map(({ name }) => name).join(', ')}`);
  for (const key of keys) {
    try {
      await revokeKey(env, key, yes);
    } catch (error) {
      console.error(`error: ${safeMessage(error)}`);
      process.exitCode = 1;
    }
  }
}

async function revokeKey(env: Environment, { name, record }: StoredKey, yes?: boolean) {
  requireNotFixed(env, record);
  const key = nameOf(record);
  if (record.revokedAt) {
    console.log(`Key ${key} was already revoked at ${record.revokedAt}.`);
    return;
  }
  await confirm(`revoke the key ${key}`, env, yes);
  await changeRecord(env, name, { ...record, revokedAt: new Date().toISOString() });
  console.log(`Key ${key} is revoked. It stops working everywhere within some minutes.`);
  const command = `npm run keys -- revoke ${record.id} --env ${env}`;
  console.log(`A rotation at the same time can undo this. Look again in two minutes: ${command}`);
}
