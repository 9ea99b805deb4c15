/** The log lines of requests. */
import { readFileSync } from 'node:fs';
import { expect, test, vi } from 'vitest';
import { stopTime } from '../support/in-process.ts';
import { startFaultyStore } from '../support/store.ts';
import { sendInProcess, stubBindings } from '../support/stubs.ts';

const store = startFaultyStore();

test('a request writes one line with the fields for operators', async () => {
  // A new key, so that its record is read from KV.
  const key = await store.issueKey({ id: 'one', family: 'first' });
  const headers = { 'cf-ray': '8f1c0d2e3a4b5c6d-FRA' };
  const reply = await store.createPet({ name: 'Rex', categoryId: 1 }, { key, headers });
  expect(await store.logLines()).toEqual([
    {
      time: expect.any(String),
      requestId: reply.headers.get('x-request-id'),
      environment: 'local',
      method: 'POST',
      operation: 'createPet',
      route: '/v1/pets',
      status: 201,
      durationMs: expect.any(Number),
      keyId: 'one',
      kvMs: expect.any(Number),
      d1Ms: expect.any(Number),
      d1Attempts: 1,
      ray: '8f1c0d2e3a4b5c6d-FRA',
      // Those of the local runtime.
      colo: 'DFW',
      country: 'US',
    },
  ]);
});

const LOST = new Error('D1_ERROR: Network connection lost.');
const BUG = new TypeError('a bug');
const AT_BOOKMARK = { 'x-d1-bookmark': `00000001-00000002-00000003-${'f'.repeat(32)}` };
const WRITE = { method: 'POST', body: '{"name":"Rex","categoryId":1}' };

test.each([
  ['an outage of D1', [{ status: 503 }], LOST, {}],
  ['a text that D1 throws', [{ status: 503, cause: 'a text' }], 'a text', {}],
  [
    'an outage of the primary',
    [{ status: 503 }],
    LOST,
    { headers: { 'x-d1-bookmark': 'first-primary' } },
  ],
  ['a write at a bookmark', [{ status: 503 }], LOST, { ...WRITE, headers: AT_BOOKMARK }],
  [
    'an outage of KV',
    [{ status: 503 }],
    LOST,
    { headers: AT_BOOKMARK },
    { API_KEYS: { get: () => Promise.reject(LOST) } },
  ],
  ['a bug, beside its exception', [BUG, { status: 500 }], BUG, { headers: AT_BOOKMARK }],
  ['no read at a bookmark', [], LOST, { headers: AT_BOOKMARK }],
  ['no stopped write', [], LOST, WRITE, { WRITES_STOPPED: '' }],
  ['no rejected request', [], LOST, { path: '/v1/pets?limit=0' }],
])('%s is an error line', async (_, expected, error, call, env?: object) => {
  stopTime();
  const bindings = { ...stubBindings(), ...env };
  vi.spyOn(bindings.DB, 'prepare').mockImplementation(() => {
    throw error;
  });
  await sendInProcess({ path: '/v1/pets', ...call }, bindings);
  const { calls } = vi.mocked(console.error).mock;
  const printed = calls.map(([line]) => (line instanceof Error ? line : JSON.parse(line)));
  expect(printed).toMatchObject(expected);
});

type Row = [method: string, path: string, record: object | null, expected: object];

test.each<Row>([
  [
    'PATCH',
    '/v1/pets/x?y=1',
    null,
    { operation: 'updatePet', route: '/v1/pets/:petId', status: 401, code: 'missing_api_key' },
  ],
  ['PUT', '/v1/pets', null, { route: '/*', status: 405, code: 'method_not_allowed' }],
  ['OPTIONS', '/v1/nothing', null, { route: '/*', status: 204 }],
  ...Object.entries({ revokedAt: 'revoked_api_key', expiresAt: 'expired_api_key' }).map(
    ([time, code]): Row => [
      'GET',
      '/v1/pets',
      { id: 'old', [time]: '2026-11-20T00:00:00Z' },
      {
        operation: 'listPets',
        route: '/v1/pets',
        status: 401,
        code,
        keyId: 'old',
        kvMs: expect.any(Number),
      },
    ],
  ),
])(
  'the line of %s %s with the key %j has only what applies',
  async (method, path, record, expected) => {
    await store.fetch(path, { method, key: record && (await store.issueKey(record)) });
    const [line] = await store.logLines();
    const { operation, route, status, code, keyId, kvMs, d1Ms } = line ?? {};
    expect({ operation, route, status, code, keyId, kvMs, d1Ms }).toEqual(expected);
  },
);

test('the local store, for whose requests wrangler prints lines, logs errors alone', async () => {
  const bindings = { ...stubBindings(), LOG: 'errors' };
  const logLines = stopTime();
  await sendInProcess({ path: '/v1/pets' }, bindings);
  await sendInProcess({ path: '/v1/pets?limit=0' }, bindings);
  expect(logLines()).toMatchObject([{ status: 400 }]);
});

test('a line has the times of all calls of KV and D1', async () => {
  const logLines = stopTime();
  const wait = async (ms: number) => {
    await Promise.resolve();
    vi.advanceTimersByTime(ms);
  };
  const bindings = stubBindings(async (binding, value) => {
    await wait(binding === 'KV' ? 80 : 150);
    return value;
  });
  // The first call of a retry fails, and a second one reads the first response.
  vi.spyOn(bindings.DB, 'batch').mockImplementationOnce(async () => {
    await wait(150);
    throw new Error('D1_ERROR: UNIQUE constraint failed: idempotency_keys.key_hash');
  });
  const body = '{"name":"Rex","categoryId":3}';
  const retry = { path: '/v1/pets', method: 'POST', body, headers: { 'idempotency-key': 'k' } };
  await sendInProcess(retry, bindings);
  const time = new Date().toISOString();
  expect(logLines()).toMatchObject([{ time, kvMs: 80, d1Ms: 300, durationMs: 380 }]);
});

test('no line contains a key, path, query, body or name', async () => {
  const key = await store.issueKey();
  for (const body of [
    { name: 'SecretName', categoryId: 123454321 },
    { name: 'SecretName', categoryId: 'Secret', SecretField: 1 },
    '{"name":"SecretName",',
  ])
    await store.createPet(body, { key });
  await store.fetch('/v1/pets/SecretPath?SecretQuery=1', { key });
  await store.fetch('/SecretPath/123454321', { key });
  for (const ray of ['8f1c-FRASECRET', 'Secret-FRA', `${'123454321'.padEnd(33, '0')}-FRA`])
    await store.fetch('/v1/pets', {
      key: `${key}x`,
      headers: { 'cf-ray': ray, 'x-request-id': 'SecretId', origin: 'https://secret' },
    });
  const lines = JSON.stringify(await store.logLines());
  expect(lines).not.toMatch(/secret|123454321/i);
  expect(lines).not.toContain(key.slice('animal_local_'.length));
});

test('docs/alerts/README.md has the fields of the lines, and no others', async () => {
  const key = await store.issueKey();
  await store.fault({ limiters: 'throws', d1: [{ meta: { served_by_region: 'WEUR' } }] });
  const headers = { 'cf-ray': '8f1c-FRA', 'x-d1-bookmark': 'unknown' };
  await store.fetch('/v1/pets/1', { key, headers });
  await store.fault({ kv: 'throws', now: Date.now() + 31_000, d1: ['throws'] });
  await store.fetch('/v1/pets', { key });
  await store.fault({ d1: ['throws'] });
  await store.createPet({ name: 'Rex', categoryId: 1 }, { headers: { 'idempotency-key': 'k' } });
  await store.scheduled();
  const fields = new Set((await store.logLines()).flatMap(Object.keys));

  const page = readFileSync('docs/alerts/README.md', 'utf8');
  const [, section = ''] = page.split('## The fields of the log');
  const rows = section.match(/^\| `.*? \|/gm)?.join('') ?? '';
  const sweep = ['task', 'removed', 'finished'];
  for (const field of sweep) expect(section).toContain(`\`${field}\``);
  expect(new Set([...(rows.match(/\w+/g) ?? []), ...sweep])).toEqual(fields);
});
