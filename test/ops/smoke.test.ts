/** The smoke test against a store in the real runtime. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type Store, smokeTest, testReads } from '../../ops/smoke.ts';
import { startStore } from '../store.ts';

const store = startStore();
let subject: Store;

beforeEach(async () => {
  const apiKey = await store.issueKey();
  subject = { environment: 'local', baseUrl: `${store.url()}/v1`, apiKey };
});
afterEach(() => vi.unstubAllGlobals());

const REX = { name: 'Rex', categoryId: 1, status: 'available' };

test('passes, and removes its animals and nobody else’s', async () => {
  const { body } = await store.create(REX);
  await smokeTest(subject);
  expect((await store.fetch('/v1/pets')).body).toEqual([body]);
});

test('of reads writes nothing, and uses only what every version has', async () => {
  await store.create(REX);
  await store.create(REX);
  const spy = vi.spyOn(globalThis, 'fetch');
  await testReads(subject);
  const sent = spy.mock.calls.map(([url, init]) => `${init?.method} ${new URL(`${url}`).pathname}`);
  // The firewall rule of the operations page blocks requests without a key, except those of the health check.
  const keyless = spy.mock.calls.filter(
    ([, init]) => !new Headers(init?.headers).has('authorization'),
  );
  expect(new Set(keyless.map(([url]) => `${url}`))).toEqual(new Set([`${subject.baseUrl}/health`]));
  spy.mockRestore();
  const used = [
    'GET /v1/health',
    'POST /v1/pets',
    'GET /v1/pets',
    'GET /v1/pets/-1',
    'GET /v1/pets/1',
  ];
  expect([...new Set(sent)]).toEqual(used);
  expect((await store.fetch('/v1/pets')).body).toHaveLength(2);
});

test('needs a key with exactly the scopes of its environment, and names the command that creates it', async () => {
  const readOnly = await store.issueKey({ scopes: ['read'] });
  const command = 'npm run keys -- create --label Smoke --env local';
  for (const apiKey of [readOnly, 'x', ''])
    await expect(smokeTest({ ...subject, apiKey })).rejects.toThrow(command);
  expect((await store.fetch('/v1/pets')).body).toEqual([]);
});

test('needs a read-only key in production', async () => {
  // The store under test, which says that it is production.
  const { fetch } = globalThis;
  vi.stubGlobal('fetch', async (url: string, init: RequestInit) => {
    const response = await fetch(url, init);
    if (!url.endsWith('/health')) return response;
    return Response.json({ environment: 'production' }, { headers: response.headers });
  });
  const production = { ...subject, environment: 'production' };
  await testReads({ ...production, apiKey: await store.issueKey({ scopes: ['read'] }) });
  await expect(testReads(production)).rejects.toThrow('Smoke --read-only --env production');
});

test('repeats a request after a 429', async () => {
  const { fetch } = globalThis;
  const limited = async () => new Response('', { status: 429, headers: { 'Retry-After': '0' } });
  vi.stubGlobal('fetch', vi.fn(fetch).mockImplementationOnce(limited));
  await testReads(subject);
});

test('fails if responses have no request id', async () => {
  const headers = { 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff' };
  vi.stubGlobal('fetch', async () => Response.json({ environment: 'local' }, { headers }));
  await expect(smokeTest(subject, 0)).rejects.toThrow('"found":["200","nosniff",false]');
});

test('fails when another version or environment answers', async () => {
  await expect(smokeTest({ ...subject, version: 'other' }, 0)).rejects.toThrow('"version":"other"');
  const staging = { ...subject, environment: 'staging' };
  await expect(smokeTest(staging, 0)).rejects.toThrow('"environment":"staging"');
});
