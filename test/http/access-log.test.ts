import { expect, test } from 'vitest';
import { operations } from '../contract.ts';
import { startStore } from '../store.ts';

const store = startStore();

test('a request writes one line with the fields for operators', async () => {
  // A new key, so that its record is read from KV.
  const authorization = `Bearer ${await store.issueKey({ id: 'one', family: 'first' })}`;
  const headers = { authorization, 'cf-ray': '8f1c0d2e3a4b5c6d-FRA' };
  const reply = await store.create({ name: 'Rex', categoryId: 1 }, { headers });
  const lines = await store.logLines();
  expect(lines).toEqual([
    {
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      requestId: reply.headers.get('x-request-id'),
      environment: 'local',
      method: 'POST',
      operation: 'createPet',
      route: '/v1/pets',
      status: 201,
      durationMs: expect.any(Number),
      d1Ms: expect.any(Number),
      d1Attempts: 1,
      kvMs: expect.any(Number),
      keyId: 'one',
      ray: '8f1c0d2e3a4b5c6d-FRA',
      // Those of the local runtime.
      colo: 'DFW',
      country: 'US',
    },
  ]);
  // docs/operations.md, Costs. Production adds a region, and has a longer name.
  expect(JSON.stringify(lines[0]).length).toBeLessThan(400 - 30);
});

test.each(operations.filter(({ operation }) => operation.security === undefined))(
  '$operation.operationId needs a key before anything else, and its line says so',
  async ({ method, path, operation: { operationId: operation } }) => {
    const line = { operation, method, route: path.replace(/\{(\w+)\}/, ':$1') };
    const invalid = `${path.replace(/\{\w+\}/, 'abc')}?x=1`;
    await store.fetch(invalid, { method, headers: { authorization: null } });
    expect(await store.logLines()).toMatchObject([
      { ...line, status: 401, code: 'missing_api_key' },
    ]);
  },
);

test.each([
  ['PUT', '/v1/store/orders', { status: 405, code: 'method_not_allowed' }],
  ['OPTIONS', '/v1/nothing', { status: 204 }],
  ['GET', '/health', { status: 200, route: '/health' }],
])('the line of %s %s has no operation and no key', async (method, path, expected) => {
  await store.fetch(path, { method });
  const [line] = await store.logLines();
  const { time, requestId, environment, durationMs, colo, country, ...rest } = line ?? {};
  expect(rest).toEqual({ method, ...expected });
});

test('no line contains a key, path, query, body or name', async () => {
  const key = await store.issueKey();
  const headers = { authorization: `Bearer ${key}` };
  await store.create({ name: 'SecretName', categoryId: 123454321 }, { headers });
  await store.create({ name: 'SecretName', categoryId: 'Secret', SecretField: 1 }, { headers });
  await store.create('{"name":"SecretName",', { headers });
  await store.fetch('/v1/pets/SecretPath?SecretQuery=1', { headers });
  await store.fetch('/SecretPath/123454321', { headers });
  const inHeaders = { 'cf-ray': '8f1c-FRASecret', 'x-request-id': 'SecretId' };
  await store.fetch('/v1/pets', { headers: { authorization: `Bearer ${key}x`, ...inHeaders } });
  const lines = await store.logLines();
  expect(lines).toHaveLength(6);
  expect(JSON.stringify(lines)).not.toMatch(/Secret|123454321/);
  expect(JSON.stringify(lines)).not.toContain(key.slice('animal_local_'.length));
});
