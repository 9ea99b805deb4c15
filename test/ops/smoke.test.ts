/** The smoke test, which is also the test of migrations, against a store in the real runtime. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { checkKey, type Store, smokeTest } from '../../ops/smoke.ts';
import { startStore } from '../store.ts';

const store = startStore();
let subject: Store;

beforeEach(async () => {
  const apiKey = await store.issueKey();
  subject = { environment: 'local', baseUrl: `${store.url()}/v1`, apiKey };
});

afterEach(() => vi.unstubAllGlobals());

test('passes, and removes its animals and nobody else’s', async () => {
  const rex = { name: 'Rex', categoryId: 1, status: 'available' };
  const { body } = await store.create(rex, { headers: { 'Idempotency-Key': 'smoke-test-1' } });
  await smokeTest(subject);
  expect((await store.fetch('/v1/pets')).body).toEqual([body]);
});

test('needs a key with exactly the scopes of its environment, and writes nothing with another', async () => {
  const [other, readOnly] = ['x', await store.issueKey({ scopes: ['read'] })];
  await expect(smokeTest({ ...subject, apiKey: readOnly })).rejects.toThrow('insufficient_scope');
  await expect(smokeTest({ ...subject, apiKey: other })).rejects.toThrow('401 invalid_api_key');
  const production = { ...subject, environment: 'production' };
  await checkKey({ ...production, apiKey: readOnly });
  await expect(checkKey(production)).rejects.toThrow('--read-only --env production');
  expect((await store.fetch('/v1/pets')).body).toEqual([]);
});

test('repeats a request after a 429', async () => {
  const { fetch } = globalThis;
  const limited = async () => new Response('', { status: 429 });
  vi.stubGlobal('fetch', vi.fn(fetch).mockImplementationOnce(limited));
  await smokeTest(subject);
});

test('fails if answers have no request id', async () => {
  const headers = { 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff' };
  vi.stubGlobal('fetch', async () => Response.json({ environment: 'local' }, { headers }));
  await expect(smokeTest(subject, 0)).rejects.toThrow('found ["200","nosniff",false]');
});

test('fails when another version or environment answers', async () => {
  await expect(smokeTest({ ...subject, version: 'other' }, 0)).rejects.toThrow('"version":"other"');
  const staging = { ...subject, environment: 'staging' };
  await expect(smokeTest(staging, 0)).rejects.toThrow('"environment":"staging"');
});

test.each([
  ['animals', 'UPDATE pets SET name = upper(name)', 'the ordered animal'],
  ['repeated orders', 'CREATE UNIQUE INDEX probe ON orders (pet_id)', '/store/orders'],
  ['animals without a status', triggerOn('pets', 'NEW.status IS NULL'), 'POST /pets'],
  ['how orders end', triggerOn('orders', "NEW.status = 'delivered'", 'UPDATE'), 'PATCH'],
])('fails on migrations that old code does not live with: %s', async (_, sql, problem) => {
  const { DB } = await store.bindings();
  const change = async () => void (await DB.exec(sql));
  await expect(smokeTest(subject, 60, change)).rejects.toThrow(problem);
  await DB.exec('DROP INDEX IF EXISTS probe; DROP TRIGGER IF EXISTS probe');
  expect((await store.fetch('/v1/pets')).body).toEqual([]);
});

function triggerOn(table: string, when: string, event = 'INSERT'): string {
  const abort = "BEGIN SELECT RAISE(ABORT, 'no'); END";
  return `CREATE TRIGGER probe BEFORE ${event} ON ${table} WHEN ${when} ${abort}`;
}
