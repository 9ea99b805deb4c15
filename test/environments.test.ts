import { beforeEach, describe, expect, test } from 'vitest';
import { unstable_readConfig as readConfig } from 'wrangler';
import wranglerPackage from '../node_modules/wrangler/package.json' with { type: 'json' };
import packageJson from '../package.json' with { type: 'json' };
import { generateKey } from '../src/auth/keys/format.ts';
import { startStore } from './store.ts';

type Config = {
  name: string;
  account_id: string;
  routes?: { pattern: string; custom_domain: boolean }[];
  workers_dev: boolean;
  preview_urls: boolean;
  vars: Record<string, string>;
  d1_databases: Record<'binding' | 'database_id' | 'database_name' | 'migrations_dir', string>[];
  kv_namespaces: Record<'binding' | 'id', string>[];
  ratelimits: Record<'name' | 'namespace_id', string>[];
  version_metadata: { binding: string };
  assets: { directory: string };
  observability: { enabled: boolean; logs: { invocation_logs: boolean } };
  limits?: { cpu_ms?: number };
  triggers: { crons: string[] };
};

function read(env?: string): Config {
  return readConfig({ config: 'wrangler.toml', ...(env && { env }) });
}

const local = read();

describe.each(['staging', 'production'])('%s in wrangler.toml', (env) => {
  const config = read(env);

  test('has the bindings and variables of local development', () => {
    const names = (config: Config) => ({
      d1: config.d1_databases.map(({ binding, migrations_dir }) => ({ binding, migrations_dir })),
      kv: config.kv_namespaces.map(({ binding }) => binding),
      limiters: config.ratelimits.map(({ name }) => name),
      version: config.version_metadata.binding,
      assets: config.assets.directory,
      observability: config.observability,
      crons: config.triggers.crons,
      limits: config.limits,
      vars: Object.keys({ BASE_URL: '', ...config.vars }).sort(),
    });
    expect(names(config)).toEqual(names(local));
    expect(config.vars).toMatchObject({ ENVIRONMENT: env });
  });

  test('shares no database, namespace, name or address with another environment', () => {
    const others = ['staging', 'production'].filter((other) => other !== env).map(read);
    const own = ({ name, d1_databases, kv_namespaces, ratelimits, routes, vars }: Config) => [
      name,
      ...d1_databases.flatMap(({ database_id, database_name }) => [database_id, database_name]),
      ...kv_namespaces.map(({ id }) => id),
      ...ratelimits.map(({ namespace_id }) => namespace_id),
      ...(routes ?? []).map(({ pattern }) => pattern),
      vars.BASE_URL,
    ];
    const taken = [local, ...others].flatMap(own);
    const limiterIds = config.ratelimits.map(({ namespace_id }) => namespace_id);
    expect(new Set(limiterIds).size).toBe(3);
    for (const value of own(config)) {
      expect(value).toBeTruthy();
      expect(taken).not.toContain(value);
    }
  });

  test('is reached at its base address and nowhere else', () => {
    const base = new URL(config.vars.BASE_URL ?? '');
    expect(base.href).toMatch(/^https:\/\/.*\/v1$/);
    expect(config.routes).toEqual([{ pattern: base.host, custom_domain: true }]);
    expect([config.workers_dev, config.preview_urls]).toEqual([false, false]);
  });
});

test('Cloudflare logs our lines, but no invocations, which contain URLs and headers', () => {
  expect(local.observability).toMatchObject({ enabled: true, logs: { invocation_logs: false } });
});

test('the top level has no account, so that a deployment must name its environment', () => {
  expect(local.account_id).toBe('local-only');
  expect(local.routes).toBeUndefined();
});

test.each([undefined, 'staging', 'production'])(
  'the CPU time of a request is bounded: %s',
  (env) => {
    expect(read(env).limits?.cpu_ms).toBeLessThanOrEqual(1000);
  },
);

test('miniflare has the version that wrangler depends on', () => {
  expect(packageJson.devDependencies.miniflare).toBe(wranglerPackage.dependencies.miniflare);
});

describe('staging', () => {
  const store = startStore({ env: 'staging' });

  test('builds links from its base address, not from the address of the request', async () => {
    const created = await store.create({ name: 'Rex', categoryId: 1, status: 'sold' });
    const id = (created.body as { id: number }).id;
    const base = new URL(read('staging').vars.BASE_URL ?? '').origin;
    expect(created.headers.get('location')).toBe(`${base}/v1/pets/${id}`);
    await store.create({ name: 'Max', categoryId: 1, status: 'sold' });
    const list = await store.fetch('/v1/pets?limit=1&status=sold');
    const [, address, rest] = /^<([^?]+)(.*)$/.exec(list.headers.get('link') ?? '') ?? [];
    expect(address).toBe(`${base}/v1/pets`);
    expect(rest).toMatch(/^\?limit=1&status=sold&cursor=[\w-]+>; rel="next"$/);
    expect((await store.fetch(`/v1/pets/${id}`)).headers.get('link')).toBe(
      `<${base}/v1/pets>; rel="successor-version", <${base}/docs>; rel="deprecation"`,
    );
  });

  test('rejects keys of other environments by name', async () => {
    const key = await store.issueKey({}, 'local');
    const reply = await store.fetch('/v1/pets', { headers: { authorization: `Bearer ${key}` } });
    expect(reply.body).toEqual({
      code: 'invalid_api_key',
      message: 'This API key is for the local environment; this is staging.',
      status: 401,
    });
  });

  test.each([null, 'garbage', 'valid'])(
    'rejects http before it checks the key: %s',
    async (credential) => {
      const key = credential === 'valid' ? await store.issueKey() : credential;
      const authorization = key === null ? {} : { authorization: `Bearer ${key}` };
      const response = await fetch(`${store.url()}/v1/pets`, {
        headers: authorization,
        redirect: 'manual',
      });
      expect(response.status).toBe(403);
      expect(response.headers.has('location')).toBe(false);
      expect(await response.json()).toEqual({
        code: 'https_required',
        message: expect.stringContaining('Replace any API key'),
        status: 403,
      });
    },
  );

  test('does not check whether the store is set up', async () => {
    await store.deleteKeys();
    const authorization = `Bearer ${generateKey('staging')}`;
    expect((await store.fetch('/v1/pets', { headers: { authorization } })).status).toBe(401);
  });
});

describe('a local store that is not set up', () => {
  const store = startStore({ faults: true });
  const command = expect.stringContaining('npm start');
  beforeEach(() => store.fault({ unmigrated: true }));

  test('without tables responds with a 503, and the log has the command to run', async () => {
    for (const reply of [
      await store.fetch('/v1/pets'),
      await store.create({ name: 'Rex', categoryId: 1 }),
    ]) {
      expect(reply.status).toBe(503);
      expect(reply.headers.get('retry-after')).toBe('5');
      expect(reply.body).toEqual({
        code: 'service_unavailable',
        message: 'The local store is not set up yet.',
        status: 503,
      });
    }
    expect(await store.logLines()).toEqual([
      expect.objectContaining({ status: 503, cause: command }),
      expect.objectContaining({ status: 503, cause: command }),
    ]);
  });

  test('without a key responds with a 503, and the log has the command to run', async () => {
    await store.deleteKeys();
    const authorization = `Bearer ${generateKey('local')}`;
    const reply = await store.fetch('/v1/pets', { headers: { authorization } });
    expect(reply.body).toMatchObject({ code: 'service_unavailable', status: 503 });
    expect(await store.logLines()).toEqual([expect.objectContaining({ cause: command })]);
  });
});

describe('staging without migrations', () => {
  const store = startStore({ env: 'staging', faults: true });

  test('responds with a 500, and the log has the command to run', async () => {
    await store.fault({ unmigrated: true });
    expect((await store.fetch('/v1/pets')).body).toMatchObject({ code: 'internal_error' });
    expect(await store.logLines()).toEqual([
      expect.objectContaining({
        status: 500,
        cause: expect.stringContaining('no such table: pets'),
        stack: expect.stringContaining('wrangler d1 migrations apply DB --remote --env staging'),
      }),
    ]);
  });
});
