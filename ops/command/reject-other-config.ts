import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { PROJECT_ROOT } from './project-root.ts';

const NAMES = ['wrangler.json', 'wrangler.jsonc', '.wrangler/deploy/config.json'];

/**
 * Rejects files that wrangler prefers to wrangler.toml, also in the folders above: the commands in docs/operations.md would use
 * another worker or account. The calls of our commands name wrangler.toml, so a file that appears later does not change them.
 *
 * @throws Error naming the file.
 */
export function rejectOtherConfig(folder = PROJECT_ROOT): void {
  const found = NAMES.map((name) => join(folder, name)).find((path) => existsSync(path));
  if (found) throw new Error(`remove ${found}: wrangler prefers it to wrangler.toml`);
  const parent = dirname(folder);
  if (parent !== folder) rejectOtherConfig(parent);
}
