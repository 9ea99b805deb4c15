/** What the release records of files: the names of migrations, and hashes. */
import { createHash } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';

/** The `.sql` files of a folder's migrations, in the order in which they run. */
export async function migrationNames(folder: string): Promise<string[]> {
  const names = await readdir(join(folder, 'migrations'));
  return names.filter((name) => name.endsWith('.sql')).sort();
}

export function sha256(bytes: string | Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
