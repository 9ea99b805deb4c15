/** The smoke test against a store in the real runtime. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type Store, smokeTest, testReads } from '../../ops/smoke.ts';
import { type RequestOptions, startStore } from '../store.ts';
import { importWith } from './in-process.ts';

const store = startStore();

type Sent = RequestOptions & { signal?: AbortSignal };

/** Sends a request to the worker, without the proxy of `wrangler dev`. */
async function send(url: string, init: Sent): Promise<Response> {
  if (init.signal?.aborted) throw init.signal.reason;
  const reply = await store.fetch(url.replace(store.url(), ''), { ...init, key: null });
  return new Response(reply.text || null, reply);
}

let subject: Store;

beforeEach(async () => {
  const apiKey = await store.issueKey();
  subject = { environment: 'local', baseUrl: `${store.url()}/v1`, apiKey };
  vi.stubGlobal('fetch', send);
});
afterEach(() => {
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

const REX = { name: 'Rex', categoryId: 1, status: 'available' };

/** Answers a request, such as `GET /pets/1`, instead of the store, while `respond` returns a response. */
function answer(request: string, respond: () => Response | undefined) {
  vi.stubGlobal('fetch', async (url: string, init: Sent) => {
    const isMeant = `${init.method} ${url.replace(subject.baseUrl, '')}` === request;
    return (isMeant && respond()) || send(url, init);
  });
}

const fail = () => Response.json({ code: 'internal_error' }, { status: 500 });

test('the smoke test passes, and removes its animals and nobody else’s', async () => {
  const { body } = await store.create(REX);
  await smokeTest(subject);
  expect((await store.fetch('/v1/pets')).body).toEqual([body]);
});

test('the smoke test removes its animals after an interrupt, too', async () => {
  const controller = new AbortController();
  vi.stubGlobal('fetch', async (url: string, init: Sent) => {
    // By then it has two animals, and an order that must end before its animal can be deleted.
    if (init.method === 'PATCH') controller.abort();
    return send(url, init);
  });
  const { signal } = controller;
  await expect(smokeTest({ ...subject, signal })).rejects.toThrow('aborted');
  expect((await store.fetch('/v1/pets')).body).toEqual([]);
});

test('the test of reads writes nothing, and uses only what every version has', async () => {
  await store.create(REX);
  await store.create(REX);
  const sent = new Set<string>();
  vi.stubGlobal('fetch', async (url: string, init: Sent) => {
    const key = init.headers?.authorization ? '' : ' without a key';
    sent.add(`${init.method} ${new URL(url).pathname}${key}`);
    return send(url, init);
  });
  await testReads(subject);
  // The firewall rule of the operations page blocks requests without a key, except those of the health check.
  expect([...sent]).toEqual([
    'GET /v1/health without a key',
    'POST /v1/pets',
    'GET /v1/pets',
    'GET /v1/pets/-1',
    'GET /v1/pets/1',
  ]);
  expect((await store.fetch('/v1/pets')).body).toHaveLength(2);
});

test('a key with other scopes is refused, with the command that creates the right one', async () => {
  const readOnly = await store.issueKey({ scopes: ['read'] });
  const command = 'npm run keys -- create --label Smoke --env local';
  for (const apiKey of [readOnly, 'x', ''])
    await expect(smokeTest({ ...subject, apiKey })).rejects.toThrow(command);
  expect((await store.fetch('/v1/pets')).body).toEqual([]);
});

test('the test of reads needs a read-only key in production', async () => {
  // The store under test, which says that it is production.
  answer('GET /health', () => Response.json({ environment: 'production' }));
  const production = { ...subject, environment: 'production' };
  await testReads({ ...production, apiKey: await store.issueKey({ scopes: ['read'] }) });
  await expect(testReads(production)).rejects.toThrow('Smoke --read-only --env production');
});

test('the test of reads waits as long as each 429 says, or a second, and repeats', async () => {
  const pause = vi.fn(async (_ms: number) => {});
  const mocks = { 'node:timers/promises': { setTimeout: pause } };
  const smoke: typeof import('../../ops/smoke.ts') = await importWith('smoke.ts', mocks);
  const reject = (headers: HeadersInit) => new Response('', { status: 429, headers });
  const limit = vi.fn<() => Response | undefined>();
  limit.mockReturnValueOnce(reject({ 'Retry-After': '7' })).mockReturnValueOnce(reject({}));
  answer('POST /pets', limit);
  await smoke.testReads(subject);
  expect(limit).toHaveBeenCalledTimes(3);
  expect(pause.mock.calls.map(([ms]) => ms)).toEqual([7_000, 1_000]);
});

test.each(['GET /pets', 'GET /pets?limit=0', 'GET /pets/-1', 'GET /pets?limit=1', 'GET /pets/1'])(
  'the test of reads fails when %s fails',
  async (request) => {
    await store.create(REX);
    answer(request, fail);
    await expect(testReads(subject)).rejects.toThrow('"found":"500 internal_error"');
  },
);

test('the smoke test fails when any of its requests fails, and removes its animals', async () => {
  let [sent, created, failing] = [0, 0, 0];
  vi.stubGlobal('fetch', async (url: string, init: Sent) => {
    if (url.endsWith('/health')) return Response.json({ environment: 'local' });
    sent += 1;
    if (sent === failing) return fail();
    const response = await send(url, init);
    if (response.status === 201) created += 1;
    return response;
  });
  await smokeTest(subject);
  // The clean-up sends one for each create, and may fail. The five of `testReads` are tested above.
  const last = sent - created;
  for (failing = 6; failing <= last; failing += 1) {
    sent = 0;
    await expect(smokeTest(subject), `${failing}`).rejects.toThrow('500 internal_error');
  }
  expect(last).toBeGreaterThan(20);
  expect((await store.fetch('/v1/pets')).body).toEqual([]);
});

test('the smoke test fails when the sold animal has changed', async () => {
  answer('GET /pets/2', () => Response.json({ ...REX, id: 2 }));
  await expect(smokeTest(subject)).rejects.toThrow('the sold animal');
});

test('the test of reads passes when another client deletes the animal that it reads', async () => {
  await store.create(REX);
  answer('GET /pets/1', () => Response.json({ code: 'pet_not_found' }, { status: 404 }));
  await testReads(subject);
});

test('a version must answer five times in a row', async () => {
  const health = vi.fn<() => Response | undefined>();
  for (const status of [200, 200, 503])
    health.mockReturnValueOnce(Response.json({ environment: 'local' }, { status }));
  answer('GET /health', health);
  await testReads(subject);
  expect(health).toHaveBeenCalledTimes(3 + 5);
});

test.each([{ version: 'other' }, { environment: 'staging' }])(
  'the smoke test fails when not %j answers within a minute',
  async (expected) => {
    // The clock starts in 1970, so that the minute is over after the first answer.
    vi.spyOn(Date, 'now').mockReturnValueOnce(0);
    const [field] = Object.entries(expected).map(([name, value]) => `"${name}":"${value}"`);
    await expect(smokeTest({ ...subject, ...expected })).rejects.toThrow(field);
  },
);
