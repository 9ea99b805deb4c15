/** `requireKey` and the routes of a resource, in an app that has none of the store's middleware. */
import { Hono } from 'hono';
import { expect, test, vi } from 'vitest';
import { generateKey } from '../../ops/keys/generate-key.ts';
import { requireKey } from '../../src/auth/require-key.ts';
import type { AppEnv } from '../../src/context.ts';
import { orders } from '../../src/orders/routes.ts';
import { pets } from '../../src/pets/routes.ts';
import { type Stubs, stubBindings } from '../support/stubs.ts';

const app = new Hono<AppEnv>()
  .use('/admin/*', requireKey('write'))
  .get('/admin/status', (c) => c.json({ keyId: c.get('client').keyId }, 200));

const fail = () => Promise.reject(new Error('it is down'));

/** A key that this process has not seen. */
const keyOf = () => generateKey('production');

const send = (env: Partial<Stubs>, key: string) =>
  app.request(
    '/admin/status',
    { headers: { authorization: `Bearer ${key}` } },
    { ...stubBindings(), ...env },
  );

test('requireKey alone rejects a key without the scope', async () => {
  const record = { id: 'a', label: 'a', createdAt: '2026-11-20T00:00:00Z', scopes: ['read'] };
  const response = await send({ API_KEYS: { get: async () => JSON.stringify(record) } }, keyOf());
  expect(response.status).toBe(403);
  expect(await response.json()).toMatchObject({ code: 'insufficient_scope', status: 403 });
});

test('requireKey alone accepts a key, also when a limiter fails, or later KV', async () => {
  const key = keyOf();
  const read = await send({ RATE_LIMITER: { limit: fail } }, key);
  expect([read.status, await read.json()]).toEqual([200, { keyId: 'stub' }]);
  vi.useFakeTimers({ now: Date.now() + 31_000, toFake: ['Date'] });
  try {
    expect((await send({ API_KEYS: { get: fail } }, key)).status).toBe(200);
  } finally {
    vi.useRealTimers();
  }
});

test('the routes of a resource alone respond with Error bodies and their headers', async () => {
  const headers = { authorization: `Bearer ${keyOf()}` };
  const failing = stubBindings((binding, value) =>
    binding === 'KV' ? Promise.resolve(value) : fail(),
  );
  const refused = await pets.request('/pets', { headers }, failing);
  expect(refused.headers.get('retry-after')).toBe('5');
  expect(await refused.json()).toMatchObject({ code: 'service_unavailable', status: 503 });
});

test.each([
  { path: '/pets', body: '{"name":"Rex","categoryId":1}' },
  { path: '/store/orders', body: '{"petId":7}' },
])(
  'the URLs in the headers of $path are those of BASE_URL, wherever its routes are',
  async (each) => {
    const { path, body } = each;
    const url = `https://api.animal-store.example/v1${path}`;
    const resources = new Hono<AppEnv>().route('/', pets).route('/', orders);
    const mounted = new Hono().route('/api/v2', resources);
    const headers = { authorization: `Bearer ${keyOf()}`, 'content-type': 'application/json' };
    for (const [routes, at] of [
      [resources, path],
      [mounted, `/api/v2${path}`],
    ] as const) {
      const created = await routes.request(at, { method: 'POST', headers, body }, stubBindings());
      expect([created.status, created.headers.get('location')]).toEqual([201, `${url}/12`]);
      const listed = await routes.request(at, { headers }, stubBindings());
      const next = `<${url}?limit=20&after=12>; rel="next"`;
      expect([listed.status, listed.headers.get('link')]).toEqual([200, next]);
    }
  },
);

test('the routes of a resource may be mounted below a parameter', async () => {
  const shops = new Hono().route('/shops/:shopId', pets);
  const headers = { authorization: `Bearer ${keyOf()}` };
  const found = await shops.request('/shops/1/pets/12', { headers }, stubBindings());
  expect([found.status, await found.json()]).toMatchObject([200, { id: 12 }]);
});
