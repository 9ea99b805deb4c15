/** An environment that is released to, as wrangler.toml describes it. */
import { join } from 'node:path';
import { unstable_readConfig as readConfig } from 'wrangler';
import { PROJECT_ROOT } from '../wrangler.ts';

export const ENVIRONMENTS = ['staging', 'production'] as const;
export type EnvironmentName = (typeof ENVIRONMENTS)[number];

/** What wrangler.toml has until an environment is set up. */
const PLACEHOLDER = /"\w+-(account|database|api-keys)-id"|[\w.-]+\.example/g;

/** `baseUrl` ends in `/v1`. */
export type Target = ReturnType<typeof readTarget>;

export function readTarget(environment: EnvironmentName) {
  const config = readConfig({ config: join(PROJECT_ROOT, 'wrangler.toml'), env: environment });
  const { name, account_id, d1_databases, kv_namespaces, routes, vars } = config;
  const filledIn = JSON.stringify([account_id, d1_databases, kv_namespaces, routes, vars]);
  return {
    environment,
    worker: name ?? '',
    accountId: account_id ?? '',
    baseUrl: String(vars.BASE_URL),
    /** What an operator must still do. */
    missing: [...new Set(filledIn.match(PLACEHOLDER))].map(
      (found) =>
        `wrangler.toml has ${found} for ${environment}: see docs/operations.md, First set-up`,
    ),
  };
}
