/** The smoke test against a store in the real runtime. */
import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type Store, smokeTest, testReads } from '../../ops/release/smoke.ts';
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
  const { body } = await store.fetch('/health');
  subject = {
    environment: 'local',
    baseUrl: `${store.url()}/v1`,
    apiKey: await store.issueKey(),
    version: Object(body).version,
    signal: new AbortController().signal,
  };
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
    if (init.method === 'PATCH' && url.includes('/orders/')) controller.abort();
    return send(url, init);
  });
  const { signal } = controller;
  await expect(smokeTest({ ...subject, signal })).rejects.toThrow('aborted');
  expect((await store.fetch('/v1/pets')).body).toEqual([]);
});

test('the clean-up goes on after a deletion that fails', async () => {
  const deleted: string[] = [];
  vi.stubGlobal('fetch', async (url: string, init: Sent) => {
    if (!url.includes('/orders/')) return send(url, init);
    if (init.method === 'PATCH' && deleted.length === 0) return fail();
    if (init.method === 'DELETE') {
      deleted.push(url);
      // The first deletion of the clean-up. It comes twice, because the create was repeated.
      if (deleted.length === 1) throw new Error('connection reset');
    }
    return send(url, init);
  });
  await expect(smokeTest(subject)).rejects.toThrow('PATCH /store/orders/1: {"found":"500');
  expect(deleted).toHaveLength(2);
  expect((await store.fetch('/v1/pets')).body).toEqual([]);
});

test('a request that fails is named, and so is a response that is cut off', async () => {
  answer('GET /pets?limit=0', () => {
    throw new Error('connection reset');
  });
  await expect(testReads(subject)).rejects.toThrow('GET /pets?limit=0: connection reset');
  const body = new ReadableStream({ start: (stream) => stream.error(new Error('cut off')) });
  const headers = { 'content-type': 'application/json' };
  answer('GET /pets/-1', () => new Response(body, { status: 404, headers }));
  await expect(testReads(subject)).rejects.toThrow('GET /pets/-1: cut off');
});

test('every request has a deadline', async () => {
  const limits: number[] = [];
  vi.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => {
    limits.push(ms);
    return new AbortController().signal;
  });
  const signals = new Set<unknown>();
  vi.stubGlobal('fetch', (url: string, init: Sent) => {
    signals.add(init.signal);
    return send(url, init);
  });
  await testReads(subject);
  // Five of the health check, the key, and four of the animals. None is repeated here.
  expect(limits).toEqual(Array(10).fill(30_000));
  expect(signals.size).toBe(10);
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
  const production = { ...subject, environment: 'production' };
  const { environment, version } = production;
  answer('GET /health', () => Response.json({ environment, version }));
  await testReads({ ...production, apiKey: await store.issueKey({ scopes: ['read'] }) });
  await expect(testReads(production)).rejects.toThrow('Smoke --read-only --env production');
});

test('the test of reads waits as long as each 429 says, or a second, and repeats', async () => {
  const pause = vi.fn(async (_ms: number) => {});
  const mocks = { 'node:timers/promises': { setTimeout: pause } };
  const smoke: typeof import('../../ops/release/smoke.ts') = await importWith(
    'release/smoke.ts',
    mocks,
  );
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
  const { environment, version } = subject;
  let [sent, created, failing] = [0, 0, 0];
  vi.stubGlobal('fetch', async (url: string, init: Sent) => {
    if (url.endsWith('/health')) return Response.json({ environment, version });
    sent += 1;
    if (sent === failing) return fail();
    const response = await send(url, init);
    // An order has no DELETE: the clean-up cancels it by a second request.
    if (response.status === 201) created += url.endsWith('/store/orders') ? 2 : 1;
    return response;
  });
  await smokeTest(subject);
  // The clean-up may fail. The five of `testReads` are tested above.
  const last = sent - created;
  for (failing = 6; failing <= last; failing += 1) {
    sent = 0;
    await expect(smokeTest(subject), `${failing}`).rejects.toThrow('500 internal_error');
  }
  expect(last).toBeGreaterThan(20);
  expect((await store.fetch('/v1/pets')).body).toEqual([]);
});

test('the smoke test fails when the delivered order has not sold the animal', async () => {
  const read = vi.fn<() => Response | undefined>();
  // The first answer is the store's, after the create.
  read.mockReturnValueOnce(undefined).mockReturnValue(Response.json({ ...REX, id: 1 }));
  answer('GET /pets/1', read);
  await expect(smokeTest(subject)).rejects.toThrow('the status of the sold animal');
});

test('the smoke test fails when a repeated create creates another animal', async () => {
  const create = vi.fn<() => Response | undefined>();
  const other = Response.json({ ...REX, id: 7 }, { status: 201 });
  create.mockReturnValueOnce(undefined).mockReturnValueOnce(undefined).mockReturnValueOnce(other);
  answer('POST /pets', create);
  await expect(smokeTest(subject)).rejects.toThrow('the repeated POST /pets: ');
});

test('the smoke test fails when an animal is read other than it was created', async () => {
  answer('GET /pets/1', () => Response.json({ ...REX, id: 1, name: 'Max' }));
  await expect(smokeTest(subject)).rejects.toThrow('GET /pets/{petId}: ');
});

const SHELTER = { name: 'North', petId: 1 };

/** Answers as a store would that has shelters, too. Returns them by their path, and what was requested of them. */
function addShelters() {
  const shelters = new Map<string, object>();
  const requests: string[] = [];
  const list = (path: string) =>
    Response.json([...shelters.values()].slice(0, path.includes('after') ? 0 : 1));
  vi.stubGlobal('fetch', async (url: string, init: Sent) => {
    const path = url.replace(subject.baseUrl, '');
    if (!path.startsWith('/shelters')) return send(url, init);
    requests.push(`${init.method} ${path}`);
    if (init.method === 'POST') {
      const shelter = { ...JSON.parse(String(init.body)), id: 5 };
      shelters.set('/shelters/5', shelter);
      return Response.json(shelter, { status: 201 });
    }
    if (init.method === 'DELETE')
      return new Response(null, { status: shelters.delete(path) ? 204 : 404 });
    const shelter = shelters.get(path);
    return shelter ? Response.json(shelter) : list(path);
  });
  return { shelters, requests };
}

test('a new resource is created, read, listed and deleted by its description alone', async () => {
  const description = JSON.parse(readFileSync('public/v1/openapi.json', 'utf8'));
  const examples = { north: { value: SHELTER } };
  const requestBody = { content: { 'application/json': { examples } } };
  Object.assign(description.paths, {
    '/shelters': { get: {}, post: { requestBody } },
    '/shelters/{shelterId}': { get: {}, delete: {} },
  });
  const mocks = { 'node:fs/promises': { readFile: async () => JSON.stringify(description) } };
  const smoke: typeof import('../../ops/release/smoke.ts') = await importWith(
    'release/smoke.ts',
    mocks,
  );
  // The animal of the example, whatever its id is.
  await store.create(REX);
  const { shelters, requests } = addShelters();
  const seen: object[] = [];
  const create = shelters.set.bind(shelters);
  shelters.set = (path, shelter) => {
    seen.push(shelter);
    return create(path, shelter);
  };
  await smoke.smokeTest(subject);
  expect(requests).toEqual([
    'POST /shelters',
    'POST /shelters',
    'GET /shelters/5',
    'GET /shelters?limit=1',
    // The second and the third are of the clean-up.
    'DELETE /shelters/5',
    'DELETE /shelters/5',
    'DELETE /shelters/5',
  ]);
  expect(seen).toEqual(Array(2).fill({ name: 'North', petId: 2, id: 5 }));
  expect(shelters.size).toBe(0);
});

test('each request goes to the version of the override', async () => {
  const sent = new Set<unknown>();
  vi.stubGlobal('fetch', async (url: string, init: Sent) => {
    sent.add(init.headers?.['cloudflare-workers-version-overrides']);
    return send(url, init);
  });
  await smokeTest({ ...subject, override: 'store="new"' });
  expect([...sent]).toEqual(['store="new"']);
});

test('the key is sent to no other host, by a Link or a redirect', async () => {
  await store.create(REX);
  await store.create(REX);
  const first = await store.fetch('/v1/pets?limit=1');
  const headers = { link: '<https://evil.test/v1/pets?limit=1&after=1>; rel="next"' };
  answer('GET /pets?limit=1', () => Response.json(first.body, { headers }));
  const requests: [path: string, redirect: unknown][] = [];
  const answering = globalThis.fetch;
  vi.stubGlobal('fetch', (url: string, sent: RequestInit) => {
    requests.push([url.replace(subject.baseUrl, ''), sent.redirect]);
    return answering(url, sent);
  });
  await testReads(subject);
  expect(requests).toContainEqual(['/pets?limit=1&after=1', 'manual']);
  for (const request of requests) expect(request).toEqual([expect.stringMatching('^/'), 'manual']);
});

test('the test of reads fails when the next page is not later', async () => {
  await store.create(REX);
  await store.create(REX);
  const first = await store.fetch('/v1/pets?limit=1');
  answer('GET /pets?limit=1&after=1', () => Response.json(first.body));
  await expect(testReads(subject)).rejects.toThrow('the next page is later');
});

test('the test of reads passes when another client deletes the animal that it reads', async () => {
  await store.create(REX);
  answer('GET /pets/1', () => Response.json({ code: 'pet_not_found' }, { status: 404 }));
  await testReads(subject);
});

test('a version must answer five times in a row', async () => {
  const health = vi.fn<() => Response | undefined>();
  const { version } = subject;
  for (const status of [200, 200, 503])
    health.mockReturnValueOnce(Response.json({ environment: 'local', version }, { status }));
  answer('GET /health', health);
  await testReads(subject);
  expect(health).toHaveBeenCalledTimes(3 + 5);
});

test.each([{ version: 'other' }, { environment: 'staging' }])(
  'the smoke test fails when not %j answers within a minute',
  async (expected) => {
    const mocks = { 'node:timers/promises': { setTimeout: async () => {} } };
    const smoke: typeof import('../../ops/release/smoke.ts') = await importWith(
      'release/smoke.ts',
      mocks,
    );
    const health = vi.fn(() => undefined);
    answer('GET /health', health);
    const times = [0, 59_000, 61_000];
    vi.spyOn(Date, 'now').mockImplementation(() => times[health.mock.calls.length] ?? 0);
    const [field = ''] = Object.keys(expected);
    await expect(smoke.smokeTest({ ...subject, ...expected })).rejects.toThrow(
      `${field}: {"found"`,
    );
    // At 59 s it tries again.
    expect(health).toHaveBeenCalledTimes(2);
  },
);
