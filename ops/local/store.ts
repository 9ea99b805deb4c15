/** The store on a developer's machine: what `npm start` serves, kept in .wrangler/state. */
import { type KeyRecord, recordName } from '../../src/auth/keys/record.ts';
import { wranglerNamespace } from '../keys.ts';
import { runIn } from '../wrangler.ts';

/** Accepted by every local store, so that pasted examples work. It is public, and invalid in other environments. */
export const LOCAL_KEY = 'animal_local_ThisKeyOpensOnlyALocalStore0001k8qeP';

export const LOCAL_KEY_RECORD: KeyRecord = {
  id: 'local',
  label: 'The fixed key of local development',
  createdAt: '2026-11-20T00:00:00.000Z',
};

/** Applies the migrations and writes the local key. Keeps all data. */
export async function setUpLocalStore(): Promise<void> {
  // One after the other: two runtimes that create the same files at once can fail with SQLITE_BUSY.
  await runIn('local', ['d1', 'migrations', 'apply', 'DB', '--local']);
  await wranglerNamespace('local').put(await recordName(LOCAL_KEY), LOCAL_KEY_RECORD);
}
