/** The settings of the environments, and what differs in a deployed one. */
import { expect, test } from 'vitest';
import { unstable_readConfig as readConfig } from 'wrangler';
import { PERIOD_S } from '../../src/auth/rate-limit.ts';

const DEPLOYED = ['staging', 'production'] as const;
const local = readConfig({ config: 'wrangler.toml' });
const read = (env: string) => readConfig({ config: 'wrangler.toml', env });
type Config = ReturnType<typeof read>;
const CONFIGS = [local, ...DEPLOYED.map(read)];

/** The settings that differ between environments, or may be in one alone. */
const OWN = ['targetEnvironment', 'account_id', 'workers_dev', 'routes', 'vars'];
/** The local store has limits of its own, and may lack the bindings that Cloudflare alone runs. */
const NOT_LOCAL = ['ratelimits', 'ai', 'browser', 'images'];

/**
 * The identifiers of databases, namespaces, buckets, queues, indexes and workers, which every
 * environment has.
 */
const IDS = [
  ...['database_name', 'database_id', 'id', 'namespace_id'],
  ...['bucket_name', 'queue', 'index_name', 'service'],
];

/** Everything that is the same in all environments. */
const shared = ({ name, ...config }: Config, own = OWN): unknown =>
  JSON.parse(
    JSON.stringify(config, (key, value) => {
      if (IDS.includes(key)) return typeof value;
      return own.includes(key) ? undefined : value;
    }),
  );

test('staging has the settings of production', () => {
  expect(shared(read('staging'))).toEqual(shared(read('production')));
});

test.each(DEPLOYED)('%s has the settings of the local store, and its own address', (env) => {
  const config = read(env);
  const own = [...OWN, ...NOT_LOCAL];
  expect(shared(config, own)).toEqual(shared(local, own));
  expect(config.vars).toMatchObject({ ENVIRONMENT: env, LOG: 'all' });
});

test.each(DEPLOYED)('the host of BASE_URL is the only one of %s', (env) => {
  const { name, routes = [], workers_dev, vars }: Config = read(env);
  const { href, host } = new URL(String(vars.BASE_URL));
  expect(href).toBe(`https://${host}/v1`);
  // A deployment takes each host from any other worker, without a question. On workers.dev, the
  // host contains the name of the account, which no other setting has.
  if (workers_dev)
    expect([routes, host]).toEqual([[], `${name}.${host.split('.')[1]}.workers.dev`]);
  else expect(routes).toEqual([{ pattern: host, custom_domain: true }]);
});

test('no two environments share a name, an address, a store or a counter', () => {
  const all = CONFIGS.flatMap((config) => {
    const ids = new Set([config.name, config.vars.BASE_URL]);
    JSON.stringify(config, (key, value) => {
      if (IDS.includes(key)) ids.add(value);
      return value;
    });
    return [...ids];
  });
  expect(all.filter((id, i) => all.indexOf(id) !== i)).toEqual([]);
});

test('the top level has no account, serves this machine alone, sweeps, and logs no invocations', () => {
  expect(local).toMatchObject({
    account_id: 'local-only',
    routes: undefined,
    workers_dev: false,
    // It would serve untested versions. Cloudflare's default can be true.
    preview_urls: false,
    triggers: { crons: ['*/10 * * * *'] },
    upload_source_maps: true,
    minify: true,
    keep_names: false,
    send_metrics: false,
    placement: undefined,
    logpush: undefined,
    tail_consumers: undefined,
    dev: { ip: '127.0.0.1' },
    vars: { ENVIRONMENT: 'local' },
  });
  for (const { observability } of CONFIGS)
    expect(observability).toEqual({
      enabled: true,
      redact_query_string: true,
      issues: { enabled: true },
      // Invocation logs contain URLs and headers.
      logs: { enabled: true, invocation_logs: false },
      traces: { enabled: true, head_sampling_rate: 0.05 },
    });
});

const LIMITS: Record<string, number> = { RATE_LIMITER: 200, WRITE_RATE_LIMITER: 20 };

test.each(CONFIGS)('$name has its limits, and no stopped writes', (config) => {
  const counters = new Set<string>();
  for (const { name, simple, namespace_id } of config.ratelimits) {
    const limit = config === local ? 1_000_000 : LIMITS[name];
    expect(simple).toEqual({ limit, period: PERIOD_S });
    expect(namespace_id).toMatch(/^\d+$/);
    counters.add(namespace_id);
  }
  // With one id, a write would count twice in one budget.
  expect(counters.size).toBe(config.ratelimits.length);
  expect(config.vars).not.toHaveProperty('WRITES_STOPPED');
});
