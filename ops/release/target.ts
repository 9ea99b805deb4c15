/** An environment that is released to, as wrangler.toml describes it. */
import { join } from 'node:path';
import { unstable_readConfig as readConfig } from 'wrangler';
import { PROJECT_ROOT } from '../wrangler.ts';

export const ENVIRONMENTS = ['staging', 'production'] as const;
export type EnvironmentName = (typeof ENVIRONMENTS)[number];

/** `baseUrl` ends in `/v1`. */
export type Target = ReturnType<typeof readTarget>;

export function readTarget(environment: EnvironmentName) {
  const config = readConfig({ config: join(PROJECT_ROOT, 'wrangler.toml'), env: environment });
  const routes: (string | { pattern: string })[] = config.routes ?? [];
  return {
    environment,
    worker: config.name ?? '',
    baseUrl: String(config.vars.BASE_URL),
    hosts: routes.map((route) => (typeof route === 'string' ? route : route.pattern)),
    accountId: config.account_id ?? '',
    databaseName: config.d1_databases[0]?.database_name ?? '',
    databaseId: config.d1_databases[0]?.database_id ?? '',
    namespaceId: config.kv_namespaces[0]?.id ?? '',
  };
}

/** What an operator must still write into wrangler.toml, with the commands that help. */
export function missingConfiguration(target: Target): string[] {
  const { environment, databaseName, accountId, databaseId, namespaceId, baseUrl, hosts } = target;
  const ids = [
    ['account_id', accountId, 'whoami'],
    ['database_id', databaseId, `d1 create ${databaseName} --env ${environment}`],
    ['id of API_KEYS', namespaceId, `kv namespace create api-keys --env ${environment}`],
  ] as const;
  const missing = ids
    .filter(([, id]) => id === '' || (id.startsWith(environment) && id.endsWith('-id')))
    .map(([what, , command]) => `${what} of ${environment}: npx wrangler ${command}`);
  if ([new URL(baseUrl).hostname, ...hosts].some((host) => /\.example(\/|$)/i.test(host))) {
    missing.push(`address of ${environment}: its BASE_URL and routes are still on .example`);
  }
  return missing.map((each) => `wrangler.toml lacks the ${each}`);
}
