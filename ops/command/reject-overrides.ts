import { globSync } from 'node:fs';
import { PROJECT_ROOT } from './project-root.ts';

const VARIABLE = 'WRANGLER_CI_OVERRIDE_NAME';

/**
 * Rejects what wrangler reads besides wrangler.toml: it could send a release to another worker. Git ignores these files, so
 * the release would not notice.
 *
 * @throws Error naming the file or the variable.
 */
export function rejectOverrides(): void {
  const files = ['.env', '.env.*', '.wrangler/deploy/config.json'];
  const found = globSync(files, { cwd: PROJECT_ROOT });
  if (VARIABLE in process.env) found.push(VARIABLE);
  const [first] = found;
  const reason =
    'wrangler reads it, and could use another worker. Pass a token as an environment variable';
  if (first) throw new Error(`remove ${first}: ${reason}`);
}
