/** The parts of a release, with fakes of wrangler and of the store: release.slow.ts has the whole. */
import { expect, test, vi } from 'vitest';
import { identityOf } from '../../ops/command/deployed.ts';
import { request } from '../../ops/command/request.ts';
import type { Store } from '../../ops/release/smoke.ts';
import { importWith } from './command.ts';

const STORE = { baseUrl: 'https://a.test/v1', apiKey: 'k' };

test('a request has the key, the version and a body, and ends by a signal or after 30 s', async () => {
  const fetch = vi.fn(async () => new Response(null, { status: 204 }));
  vi.stubGlobal('fetch', fetch);
  const timeout = vi.spyOn(AbortSignal, 'timeout');
  const signal = AbortSignal.abort('enough');
  const store = { ...STORE, override: 'w="v"', signal };
  expect(await request(store, 'PATCH /pets/1', 204, { name: 'a' })).toEqual({});
  expect(fetch).toHaveBeenCalledExactlyOnceWith('https://a.test/v1/pets/1', {
    method: 'PATCH',
    headers: {
      'content-type': 'application/json',
      authorization: 'Bearer k',
      'cloudflare-workers-version-overrides': 'w="v"',
    },
    body: '{"name":"a"}',
    signal: expect.objectContaining({ reason: 'enough' }),
  });
  expect(timeout).toHaveBeenCalledWith(30_000);
});

const REFUSED = Object.assign(new AggregateError([]), { code: 'ECONNREFUSED' });
const LONG = 'é'.repeat(300);

test.each([
  [
    'of the network',
    async () => Promise.reject(new TypeError('fetch failed', { cause: REFUSED })),
    'GET https://a.test/v1/pets: ECONNREFUSED',
  ],
  [
    'of the store',
    async () => new Response(`a${LONG}`, { status: 201 }),
    `GET /pets: 201, not 200: ${LONG}`,
  ],
])('an error %s says what failed', async (_, fetch, message) => {
  vi.stubGlobal('fetch', fetch);
  await expect(request(STORE, 'GET /pets', 200)).rejects.toThrow(new Error(message));
});

test("Cloudflare's API is called with the token of wrangler alone", async () => {
  const runWranglerIn = vi.fn().mockResolvedValueOnce('{}').mockResolvedValue('{"token":"t"}');
  const request = vi.fn(async () => ({ result: 'a' }));
  const { openAccount } = await importWith('command/account.ts', {
    '../../ops/command/wrangler.ts': { runWranglerIn },
    '../../ops/command/request.ts': { request },
  });
  const advice = 'use CLOUDFLARE_API_TOKEN or npx wrangler login, not a global API key';
  await expect(openAccount('staging', 'x')).rejects.toThrow(new Error(advice));
  const account = await openAccount('staging', 'x');
  expect(await account('GET /a', { b: 1 })).toBe('a');
  const baseUrl = 'https://api.cloudflare.com/client/v4/accounts/x';
  const call = [{ baseUrl, apiKey: 't' }, 'GET /a', 200, { b: 1 }];
  expect(request.mock.calls).toEqual([call]);
});

test('a version that Cloudflare does not know is asked for five times in 20 s', async () => {
  const runWranglerIn = vi.fn().mockRejectedValue(new Error('100146'));
  const pause = vi.fn();
  const { readVersion } = await importWith('command/deployed.ts', {
    '../../ops/command/wrangler.ts': { runWranglerIn },
    'node:timers/promises': { setTimeout: pause },
  });
  await expect(readVersion('staging', 'v')).rejects.toThrow('100146');
  const call = ['staging', ['versions', 'view', 'v', '--json']];
  expect(runWranglerIn.mock.calls).toEqual(Array(5).fill(call));
  expect(pause.mock.calls).toEqual(Array(4).fill([5000]));
});

test('a binding is identified by its text or id, and a secret by its name alone', () => {
  const fields = [
    { text: 'a' },
    { namespace_id: 'b' },
    { database_id: 'c', id: 'x' },
    { id: 'd' },
    {},
  ];
  const bindings = fields.map((each, index) => ({ ...each, name: `${index}` }));
  const version = { id: '', resources: { bindings } };
  const found = Array.from('012345', (name) => identityOf(version, name));
  expect(found).toEqual(['a', 'b', 'c', 'd', '', undefined]);
});

const version = { version: 'new' };

/** Tests a store whose health has these answers, the last one for ever, and with other answers. */
async function testStore(health: object[], others: Record<string, object> = {}) {
  vi.useFakeTimers({ toFake: ['Date'] });
  const { signal } = new AbortController();
  const lines: unknown[] = [];
  const answers: Record<string, object> = {
    'POST /pets': { id: 1 },
    'PATCH /pets/1': { name: 'a' },
    'GET /pets/1': { name: 'a' },
    ...others,
  };
  const request = async (store: Store, line: string, ...expected: unknown[]) => {
    expect(store.signal).toBe(line.startsWith('DELETE') ? undefined : signal);
    if (line === 'GET /health') return health.length > 1 ? health.shift() : health[0];
    if (line === 'GET /pets') expect(store.apiKey).toBe('x');
    lines.push([line, ...expected]);
    if (answers[line] instanceof Error) throw answers[line];
    return answers[line];
  };
  const pause = vi.fn(async (ms: number) => {
    vi.setSystemTime(Date.now() + ms);
    if (pause.mock.calls.length > 999) throw new Error('it waits for ever');
  });
  const { smokeTest } = await importWith('release/smoke.ts', {
    '../../ops/command/request.ts': { request },
    'node:timers/promises': { setTimeout: pause },
  });
  const error = await smokeTest({ ...STORE, ...version, signal }).catch((thrown: Error) => thrown);
  for (const call of pause.mock.calls) expect(call).toEqual([500, undefined, { signal }]);
  return { error, lines, pauses: pause.mock.calls.length };
}

test('a version is tested after five answers of it in a row', async () => {
  const health = [
    version,
    version,
    { version: 'old' },
    ...Array(4).fill(version),
    {},
    ...Array(5).fill(version),
    {},
  ];
  expect(await testStore(health)).toMatchObject({ error: undefined, pauses: 2 });
  expect(health).toEqual([{}]);
});

test('a smoke test that cannot change its animal deletes it', async () => {
  const error = new Error('failed');
  const result = await testStore([version], { 'PATCH /pets/1': error });
  expect(result).toMatchObject({ error });
  expect(result.lines.at(-1)).toEqual(['DELETE /pets/1', 204]);
});

test('the test of a version that does not answer within a minute fails', async () => {
  const result = await testStore([{ version: 'old' }]);
  expect(result).toEqual({ error: new Error('old answers, not new'), lines: [], pauses: 121 });
});

test.each([
  [{ name: 'a' }, undefined],
  [{ name: 'b' }, new Error('GET /pets/1: not the changed animal')],
  [new Error('failed'), new Error('failed')],
])('a smoke test that finds %j deletes its animal', async (found, problem) => {
  const { error, lines } = await testStore([version], { 'GET /pets/1': found });
  expect(error).toEqual(problem);
  const name = expect.stringMatching(/^Smoke test [\w-]{36}$/);
  expect(lines).toEqual([
    ['GET /pets', 401],
    ['GET /pets?limit=1', 200],
    ['POST /pets', 201, { name, categoryId: 1, status: 'available' }],
    ['PATCH /pets/1', 200, { name: expect.stringMatching(/^Smoke test [\w-]{36} changed$/) }],
    ['GET /pets/1', 200],
    ['DELETE /pets/1', 204],
  ]);
});
