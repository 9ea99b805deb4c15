import { globSync } from 'node:fs';
import { PROJECT_ROOT } from './project-root.ts';

const OVERRIDE_VARIABLE = 'WRANGLER_CI_OVERRIDE_NAME';

/**
 * Rejects files and a variable, because some can override wrangler.toml, and send a release or a printed command to another worker.
 * Git ignores most of the files, so a release's check for a clean working tree does not find those.
 *
 * @throws Error naming the file or the variable.
 */
export function rejectOverrides(): void {
  const files = ['.env', '.env.*', '.wrangler/deploy/config.json', 'wrangler.{json,jsonc}'];
  const found = globSync(files, { cwd: PROJECT_ROOT });
  if (OVERRIDE_VARIABLE in process.env) found.push(OVERRIDE_VARIABLE);
  const [first] = found;
  const reason =
    'wrangler could read it, and use another worker. In place of a file, pass CLOUDFLARE_API_TOKEN in the environment';
  if (first) throw new Error(`remove ${first}: ${reason}`);
}
