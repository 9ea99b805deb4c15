/** wrangler.toml as it is before the first set-up, also in a store that is set up. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PROJECT_ROOT } from '../../ops/command/project-root.ts';

const HOSTS: Record<string, string> = {
  staging: 'staging.api.animal-store.example',
  production: 'api.animal-store.example',
};

export function readPlaceholders() {
  const text = readFileSync(join(PROJECT_ROOT, 'wrangler.toml'), 'utf8');
  return text
    .split(/^(?=\[)/m)
    .map(resetTable)
    .join('');
}

/** Puts the placeholders back into a table, if it is of an environment. */
function resetTable(table: string) {
  const [, environment = ''] = /^\[+env\.(\w+)/.exec(table) ?? [];
  const host = HOSTS[environment];
  if (!host) return table;
  return table
    .replace(/^account_id = .*/m, `account_id = "${environment}-account-id"`)
    .replace(/^database_id = .*/m, `database_id = "${environment}-database-id"`)
    .replace(/^id = .*/m, `id = "${environment}-api-keys-id"`)
    .replace(
      /^(routes|workers_dev) = .*/m,
      `routes = [{ pattern = "${host}", custom_domain = true }]`,
    )
    .replace(/^BASE_URL = .*/m, `BASE_URL = "https://${host}/v1"`);
}
