/** `requireKey` and the routes of a resource, in an app that has none of the store's middleware. */
import { Hono } from 'hono';
import { expect, test } from 'vitest';
import { requireKey } from '../../src/auth/require-key.ts';
import type { AppEnv } from '../../src/context.ts';
import { orders } from '../../src/orders/routes.ts';
import { pets } from '../../src/pets/routes.ts';
import { type Call, RECORD, type Stubs, sendInProcess, stubBindings } from '../support/stubs.ts';

const admin = new Hono<AppEnv>()
  .use('/admin/*', requireKey('write'))
  .get('/admin/status', (c) => c.json({ keyId: c.get('client').keyId }, 200));
const resources = new Hono<AppEnv>().route('/', pets).route('/', orders);
const mounted = new Hono<AppEnv>()
  // Another parameter may precede those of a resource.
  .route('/shops/:shopId', resources);

const fail = () => Promise.reject(new Error('it is down'));

/** Sends a request with a key that this process has not seen, and reads the response. */
async function send(to: Pick<Hono<AppEnv>, 'request'>, call: Call, env: Partial<Stubs> = {}) {
  const response = await sendInProcess(call, { ...stubBindings(), ...env }, { to });
  return { response, status: response.status, body: await response.json() };
}

test.each([
  [RECORD, 200, { keyId: 'stub' }],
  [{ ...RECORD, scopes: ['read'] }, 403, { code: 'insufficient_scope' }],
  [null, 401, { message: 'Unknown API key.' }],
])('requireKey alone, with the record %j, is a %i', async (record, status, body) => {
  const bindings = {
    API_KEYS: { get: async () => record && JSON.stringify(record) },
    RATE_LIMITER: { limit: fail },
  };
  expect(await send(admin, { path: '/admin/status' }, bindings)).toMatchObject({ status, body });
});

test('the routes of a resource alone respond with Error bodies and their headers', async () => {
  const { response, body } = await send(pets, { path: '/pets' }, { API_KEYS: { get: fail } });
  expect(response.headers.get('retry-after')).toBe('5');
  const message = 'API keys cannot be verified right now.';
  expect(body).toEqual({ code: 'service_unavailable', message, status: 503 });
});

test.each([
  { path: '/pets', body: '{"name":"Rex","categoryId":1}' },
  { path: '/store/orders', body: '{"petId":7}' },
])(
  'the URLs in the headers of $path are those of BASE_URL, wherever its routes are',
  async (each) => {
    const url = `https://api.animal-store.example/v1${each.path}`;
    const path = `/shops/1${each.path}`;
    const created = await send(mounted, { ...each, path, method: 'POST' });
    expect([created.status, created.response.headers.get('location')]).toEqual([201, `${url}/12`]);
    const { response } = await send(mounted, { path });
    expect(response.headers.get('link')).toBe(`<${url}?limit=20&after=12>; rel="next"`);
    expect(await send(mounted, { path: `${path}/12` })).toMatchObject({ body: { id: 12 } });
  },
);
