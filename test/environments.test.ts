import { describe, expect, test, vi } from 'vitest';
import { unstable_readConfig as readConfig } from 'wrangler';
import { app } from '../src/app.ts';
import { generateKey } from '../src/auth/key-format.ts';
import { PERIOD_S } from '../src/auth/rate-limit.ts';
import { errorOf } from './contract.ts';
import { startStore } from './store.ts';

type Named = Record<string, string>;
type Limiter = { name: string; namespace_id: string; simple: { period: number } };
type Config = Record<'d1_databases' | 'kv_namespaces', Named[]> &
  Record<'vars' | 'version_metadata' | 'assets' | 'observability', Named> &
  Record<'account_id' | 'workers_dev' | 'preview_urls' | 'triggers', unknown> & {
    name: string;
    ratelimits: Limiter[];
    routes?: Named[];
    limits?: { cpu_ms?: number };
  };

const read = (env: string): Config => readConfig({ config: 'wrangler.toml', env });
const local: Config = readConfig({ config: 'wrangler.toml' });

/** Everything of an environment that no other one may have. */
function ownValues({ name, d1_databases, kv_namespaces, ratelimits, routes = [], vars }: Config) {
  return new Set([
    name,
    ...d1_databases.flatMap(({ database_id, database_name }) => [database_id, database_name]),
    ...kv_namespaces.map(({ id }) => id),
    ...ratelimits.map(({ namespace_id }) => namespace_id),
    ...routes.map(({ pattern }) => pattern),
    ...('BASE_URL' in vars ? [vars.BASE_URL] : []),
  ]);
}

/** Everything that is the same in all environments. */
function shared(config: Config) {
  return {
    d1: config.d1_databases.map(({ binding, migrations_dir }) => ({ binding, migrations_dir })),
    kv: config.kv_namespaces.map(({ binding }) => binding),
    // The period is the Retry-After of a 429, in seconds.
    limiters: config.ratelimits.map(({ name, simple }) => `${name} ${simple.period}`),
    version: config.version_metadata?.binding,
    assets: config.assets?.directory,
    observability: config.observability,
    crons: config.triggers,
    limits: config.limits,
    vars: Object.keys({ BASE_URL: '', ...config.vars }).sort(),
  };
}

describe.each(['staging', 'production'])('%s in wrangler.toml', (env) => {
  const config = read(env);

  test('a deployed environment has the bindings and variables of the local one', () => {
    expect(shared(config)).toEqual(shared(local));
    expect(config.ratelimits).toMatchObject(Array(2).fill({ simple: { period: PERIOD_S } }));
    expect(config.vars).toMatchObject({ ENVIRONMENT: env });
  });

  test('a deployed environment is reached at its base address alone', () => {
    const base = new URL(String(config.vars.BASE_URL));
    expect(base.href).toMatch(/^https:\/\/.*[^/]\/v1$/);
    expect(config.routes).toEqual([{ pattern: base.host, custom_domain: true }]);
    expect([config.workers_dev, config.preview_urls]).toEqual([false, false]);
  });
});

test('environments share no database, namespace, limiter, name or address', () => {
  const sets = [local, read('staging'), read('production')].map(ownValues);
  expect(sets.map((values) => values.size)).toEqual([5, 7, 7]);
  expect(new Set(sets.flatMap((values) => [...values])).size).toBe(5 + 7 + 7);
});

test('the top level names no account, logs no invocations, and bounds the CPU time', () => {
  expect(local.account_id).toBe('local-only');
  expect(local.routes).toBeUndefined();
  // Invocation logs contain URLs and headers.
  expect(local.observability).toMatchObject({ enabled: true, logs: { invocation_logs: false } });
  expect(local.limits?.cpu_ms).toBeLessThanOrEqual(1000);
});

describe('staging', () => {
  const store = startStore({ env: 'staging' });

  test('links on staging begin with its base address', async () => {
    const BASE = 'https://staging.api.animal-store.example';
    const first = await store.create({ name: 'Rex', categoryId: 1, status: 'sold' });
    await store.create({ name: 'Max', categoryId: 1, status: 'sold' });
    expect(first.headers.get('location')).toBe(`${BASE}/v1/pets/1`);
    const list = await store.fetch('/v1/pets?limit=1&status=sold');
    expect(list.headers.get('link')).toBe(
      `<${BASE}/v1/pets?limit=1&status=sold&after=1>; rel="next"`,
    );
    expect((await store.fetch('/v1/pets/1')).headers.get('link')).toBe(
      `<${BASE}/v1/pets>; rel="successor-version", <${BASE}/docs>; rel="deprecation"`,
    );
  });

  test('the health check and the log of staging name it', async () => {
    const named = { environment: 'staging' };
    expect((await store.fetch('/health')).body).toMatchObject(named);
    expect(await store.logLines()).toMatchObject([named]);
  });
});

test.each(['staging', 'production'] as const)(
  'plain http to %s is a 403 without a redirect, with a key or without',
  async (ENVIRONMENT) => {
    const log = vi.spyOn(console, 'log').mockImplementation(() => {});
    const headers = { authorization: `Bearer ${generateKey(ENVIRONMENT)}` };
    for (const init of [{ headers }, {}]) {
      const reply = await app.request('http://store.example/v1/pets', init, { ENVIRONMENT });
      expect([reply.status, reply.headers.has('location')]).toEqual([403, false]);
      expect(errorOf(await reply.json())).toBe(
        '403 https_required: Send requests over https. Replace any API key that was sent over http: others may have read it.',
      );
    }
    log.mockRestore();
  },
);

describe('a local store without migrations', () => {
  const store = startStore({ faults: true });

  test('a local store without migrations is a 503 that says how to start it', async () => {
    await store.fault({ unmigrated: true });
    const { headers, body } = await store.fetch('/v1/pets');
    expect(headers.get('retry-after')).toBe('5');
    expect(errorOf(body)).toBe(
      '503 service_unavailable: The store is not set up. Start it with: npm start',
    );
  });
});
