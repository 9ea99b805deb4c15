/** The smoke test, against a store in the real runtime, with a lie among its answers. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Endpoint } from '../../../ops/release/smoke.ts';
import { type RequestOptions, startStore } from '../../support/store.ts';
import { importWith } from '../command.ts';

const store = startStore();

type Smoke = typeof import('../../../ops/release/smoke.ts');
type Sent = RequestOptions & { method: string };

const REX = { name: 'Rex', categoryId: 1, status: 'available' };
/** Of each response of the worker. */
const headers = { 'x-request-id': 'an id' };
const refuse = (status: number) => () => new Response('', { status, headers });
/** A page of Cloudflare's bot protection. */
const block = () =>
  new Response(`<title>Just a moment...</title>${'x'.repeat(9_000)}`, { status: 403 });
const show = (body: unknown) => () => Response.json(body, { headers });
const reset = () => {
  throw new Error('connection reset');
};

let smoke: Smoke;
let subject: Endpoint;
/** Milliseconds of each pause. They pass at once. */
let pauses: number[];

const mocks = {
  'node:timers/promises': {
    setTimeout: async (ms: number) => {
      pauses.push(ms);
      vi.setSystemTime(Date.now() + ms);
    },
  },
};

beforeEach(async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  pauses = [];
  smoke = await importWith('release/smoke.ts', mocks);
  const { body } = await store.fetch('/health');
  subject = {
    baseUrl: `${store.url()}/v1`,
    apiKey: await store.issueKey(),
    version: Object(body).version,
  };
  await store.createPet(REX);
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

/** The worker answers, but `lie` the nth of a request. Returns the requests. */
function useStore(lyingAt = '', lie: () => Response = reset, nth = 1) {
  const requests: { request: string; sent: Sent }[] = [];
  vi.stubGlobal('fetch', async (url: string, sent: Sent) => {
    const path = url.replace(subject.baseUrl, '');
    const request = `${sent.method} ${path}`;
    requests.push({ request, sent });
    const count = requests.filter((each) => each.request === request).length;
    if (request === lyingAt && count === nth) return lie();
    const reply = await store.fetch(`/v1${path}`, { ...sent, key: null });
    return new Response(reply.text || null, reply);
  });
  return requests;
}

/** The animals that are left. */
const readPets = async () => (await store.fetch('/v1/pets')).body;

test('the smoke test tests what every version has, and an animal with a name of its own', async () => {
  const limits = vi.spyOn(AbortSignal, 'timeout');
  const requests = useStore();
  await smoke.smokeTest({ ...subject, override: 'store="new"' });
  expect(requests.map(({ request }) => request)).toEqual([
    ...Array(5).fill('GET /health'),
    'GET /pets',
    'GET /pets?limit=1',
    'GET /pets?limit=0',
    'POST /pets',
    'PATCH /pets/2',
    'GET /pets/2',
    'DELETE /pets/2',
  ]);
  expect(JSON.parse(String(requests[8]?.sent.body)).name).toMatch(/^Smoke test [\w-]{36}$/);
  expect(await readPets()).toMatchObject([{ name: 'Rex' }]);
  expect(limits.mock.calls).toEqual(requests.map(() => [30_000]));
  for (const { request, sent } of requests)
    expect(sent.headers).toMatchObject({
      authorization: `Bearer ${request === 'GET /pets' ? 'x' : subject.apiKey}`,
      'cloudflare-workers-version-overrides': 'store="new"',
    });
});

test.each([
  ['GET /pets', show([]), 'GET /pets: 200, not 401. See docs/operations.md#release. []'],
  ['GET /pets?limit=1', refuse(429), 'GET /pets?limit=1: 429, not 200. '],
  ['GET /pets?limit=0', show([]), 'GET /pets?limit=0: 200, not 400.'],
  ['POST /pets', reset, 'POST /pets: connection reset'],
  ['PATCH /pets/2', refuse(500), 'PATCH /pets/2: 500, not 200.'],
  ['PATCH /pets/2', show({}), 'GET /pets/2: not the changed animal: {"id":2'],
  ['GET /pets/2', refuse(500), 'GET /pets/2: 500, not 200.'],
])(
  'the smoke test fails at another answer to %s, and leaves no animal',
  async (request, answer, error) => {
    useStore(request, answer);
    await expect(smoke.smokeTest(subject)).rejects.toThrow(error);
    expect(await readPets()).toMatchObject([{ name: 'Rex' }]);
  },
);

test('the smoke test says that Cloudflare refused the health check, and no word of the key', async () => {
  useStore('GET /health', block);
  const error = await smoke.testReads(subject).catch(({ message }) => message);
  expect(error).toMatch(/^GET \/health: 403, not 200\. .* Cloudflare answered, not the worker/);
  expect(error).not.toContain('SMOKE_API_KEY');
  expect(error.length).toBeLessThanOrEqual(300);
});

test('the smoke test fails when its animal cannot be deleted', async () => {
  useStore('DELETE /pets/2', refuse(500));
  await expect(smoke.smokeTest(subject)).rejects.toThrow('DELETE /pets/2: 500');
});

test('a read is sent once more after a network error', async () => {
  const requests = useStore('GET /pets?limit=0', reset);
  await smoke.testReads(subject);
  expect(requests.at(-1)?.request).toBe('GET /pets?limit=0');
  expect(requests).toHaveLength(5 + 4);
});

test('a version must answer five times in a row, and then the test of reads writes nothing', async () => {
  const requests = useStore('GET /health', show({ version: 'other' }), 5);
  await smoke.testReads(subject);
  expect(requests[0]?.sent.headers).not.toHaveProperty('cloudflare-workers-version-overrides');
  expect(requests).toHaveLength(5 + 5 + 3);
  expect(pauses).toEqual([500]);
});

test('the smoke test fails after a minute without the version, and has only requested the health check', async () => {
  const requests = useStore();
  const start = Date.now();
  const tested = smoke.smokeTest({ ...subject, version: 'other' });
  await expect(tested).rejects.toThrow(`${subject.baseUrl}: ${subject.version} answers, not other`);
  expect(Date.now() - start).toBe(60_500);
  expect(new Set(requests.map(({ request }) => request))).toEqual(new Set(['GET /health']));
});
