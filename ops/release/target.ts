/** An environment that is released to, as wrangler.toml describes it. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'smol-toml';
import * as z from 'zod';
import { PROJECT_ROOT } from '../wrangler.ts';

export const ENVIRONMENTS = ['staging', 'production'] as const;
export type EnvironmentName = (typeof ENVIRONMENTS)[number];

export const CONFIG = join(PROJECT_ROOT, 'wrangler.toml');

const Section = z.looseObject({
  name: z.string(),
  account_id: z.string(),
  routes: z.array(z.looseObject({ pattern: z.string() })),
  vars: z.looseObject({ BASE_URL: z.url() }),
  d1_databases: z.tuple([z.looseObject({ database_name: z.string(), database_id: z.string() })]),
  kv_namespaces: z.tuple([z.looseObject({ id: z.string() })]),
});

const Config = z.looseObject({
  env: z.object({
    staging: z.looseObject(Section.shape),
    production: z.looseObject(Section.shape),
  }),
});
export type Config = z.infer<typeof Config>;

export type Target = {
  environment: EnvironmentName;
  /** Name of the worker. */
  worker: string;
  /** Ends in `/v1`. */
  baseUrl: string;
  /** The hosts, or patterns of them, that it is to be reached at. */
  routes: string[];
  accountId: string;
  databaseName: string;
  databaseId: string;
  namespaceId: string;
};

/** The ids that wrangler.toml holds until `setup` writes the real ones. */
export function placeholders(environment: EnvironmentName) {
  return {
    accountId: `${environment}-account-id`,
    databaseId: `${environment}-database-id`,
    namespaceId: `${environment}-api-keys-id`,
  };
}

/** @throws Error when wrangler.toml is not as this project needs it. */
export function readConfig(): Config {
  const config = Config.safeParse(parseConfig());
  if (config.success) return config.data;
  const problems = config.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`);
  throw new Error(`wrangler.toml: ${problems.join('; ')}`);
}

function parseConfig(): unknown {
  try {
    return parse(readFileSync(CONFIG, 'utf8'));
  } catch (error) {
    const [problem] = (error instanceof Error ? error.message : String(error)).split('\n');
    throw new Error(`wrangler.toml cannot be read: ${problem}`);
  }
}

export function readTarget(environment: EnvironmentName): Target {
  const section = readConfig().env[environment];
  const [database] = section.d1_databases;
  const [namespace] = section.kv_namespaces;
  return {
    environment,
    worker: section.name,
    baseUrl: section.vars.BASE_URL,
    routes: section.routes.map(({ pattern }) => pattern),
    accountId: section.account_id,
    databaseName: database.database_name,
    databaseId: database.database_id,
    namespaceId: namespace.id,
  };
}

/** What an operator must still do before anything can be released to this environment. */
export function missing(target: Target): string[] {
  const problems: string[] = [];
  const { environment, baseUrl, routes } = target;
  const wanted = placeholders(environment);
  const names = { accountId: 'account', databaseId: 'database', namespaceId: 'KV namespace' };
  const unset = (['accountId', 'databaseId', 'namespaceId'] as const).filter(
    (id) => target[id] === wanted[id] || target[id] === '',
  );
  if (unset.length > 0) {
    const what = unset.map((id) => names[id]).join(', ');
    const setup = `npm run release -- setup --env ${environment} --account <id>`;
    problems.push(`wrangler.toml has no id for the ${what} of ${environment}: run ${setup}`);
  }
  if (isExample(target)) {
    problems.push(
      `the base address of ${environment} is still on .example (${[baseUrl, ...routes].join(', ')}): set BASE_URL and routes in wrangler.toml`,
    );
  }
  return problems;
}

/** Whether the address is one that nobody can have (RFC 2606). */
export function isExample({ baseUrl, routes }: Target): boolean {
  const hosts = [
    new URL(baseUrl).hostname,
    ...routes.map((pattern) => pattern.split('/')[0] ?? ''),
  ];
  return hosts.some((host) => /(^|\.)example\.?$/i.test(host));
}

/** @throws Error naming all the problems, in one line. */
export function refuse(problems: (string | undefined)[]): void {
  const real = problems.filter((problem) => problem);
  if (real.length > 0) throw new Error(real.join('; '));
}
