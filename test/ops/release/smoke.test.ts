/** The smoke test, against a store in the real runtime, and against its recorded answers with a lie among them. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Store } from '../../../ops/release/smoke.ts';
import { importWith } from '../../support/command.ts';
import { type RequestOptions, startStore } from '../../support/store.ts';

const store = startStore();

type Smoke = typeof import('../../../ops/release/smoke.ts');
type Sent = RequestOptions & { method: string; signal: AbortSignal; redirect: string };
/** Answers a request, such as `GET /pets/1`, or not. */
type Respond = (request: string, sent: Sent) => Response | undefined;

const REX = { name: 'Rex', categoryId: 1, status: 'available' };
const fail = () => Response.json({ code: 'internal_error' }, { status: 500 });
const reset = () => {
  throw new Error('connection reset');
};

let smoke: Smoke;
let subject: Store;
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
    environment: 'local',
    baseUrl: `${store.url()}/v1`,
    apiKey: await store.issueKey(),
    version: Object(body).version,
    signal: new AbortController().signal,
  };
  await store.createPet(REX);
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

/** Answers the nth request that begins so. */
function at(start: string, nth: number, answer: () => Response | undefined): Respond {
  let count = 0;
  return (request) => {
    if (!request.startsWith(start)) return undefined;
    count += 1;
    return count === nth ? answer() : undefined;
  };
}

/** The worker answers, unless `respond` does. Returns the requests. */
function useStore(respond: Respond = () => undefined): string[] {
  const requests: string[] = [];
  vi.stubGlobal('fetch', async (url: string, sent: Sent) => {
    const path = url.replace(subject.baseUrl, '');
    const request = `${sent.method} ${path}`;
    requests.push(request);
    if (sent.signal.aborted) throw sent.signal.reason;
    const lie = respond(request, sent);
    if (lie) return lie;
    const reply = await store.fetch(`/v1${path}`, { ...sent, key: null });
    return new Response(reply.text || null, reply);
  });
  return requests;
}

const names = async () => {
  const { body } = await store.fetch('/v1/pets');
  return (body as { name: string }[]).map(({ name }) => name);
};

test('the smoke test creates, reads, changes and deletes an animal with a name of its own', async () => {
  const bodies: string[] = [];
  const requests = useStore((_, { body }) => void (body && bodies.push(String(body))));
  await smoke.smokeTest(subject);
  expect(requests.slice(-4)).toEqual([
    'POST /pets',
    'GET /pets/2',
    'PATCH /pets/2',
    'DELETE /pets/2',
  ]);
  expect(JSON.parse(bodies[0] ?? '').name).toMatch(/^Smoke test [\w-]{36}$/);
  expect(await names()).toEqual(['Rex']);
});

test.each<[title: string, respond: (stop: AbortController) => Respond, error: string]>([
  ['an interrupt', (stop) => at('PATCH', 1, () => void stop.abort(new Error('interrupted'))), ''],
  [
    'a read that fails',
    () => at('GET /pets/2', 1, fail),
    'GET /pets/2: 500 internal_error, not 200',
  ],
  ['a change that fails', () => at('PATCH', 1, fail), 'PATCH /pets/2: 500 internal_error, not 200'],
  [
    'another animal',
    () => at('GET /pets/2', 1, () => Response.json(REX)),
    'the created animal: {"f',
  ],
  ['another change', () => at('PATCH', 1, () => Response.json(REX)), 'the changed animal: {"f'],
])('the smoke test deletes its animal after %s, too', async (_, respond, error) => {
  const stop = new AbortController();
  useStore(respond(stop));
  const tested = smoke.smokeTest({ ...subject, signal: stop.signal });
  // An interrupt ends the release after the test, which takes a second more.
  if (error) await expect(tested).rejects.toThrow(error);
  else await tested;
  expect(await names()).toEqual(['Rex']);
});

test('the smoke test fails when its animal cannot be deleted, or not be created', async () => {
  useStore(at('DELETE', 1, fail));
  await expect(smoke.smokeTest(subject)).rejects.toThrow('DELETE /pets/2: 500');
  useStore(at('POST', 1, reset));
  await expect(smoke.smokeTest(subject)).rejects.toThrow('POST /pets: connection reset');
});

test('every request has a deadline of 30 s, no redirect, and the version of the override', async () => {
  const limits: number[] = [];
  vi.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => {
    limits.push(ms);
    return new AbortController().signal;
  });
  const settings = new Set<string>();
  const requests = useStore((_, { redirect, headers }) => {
    settings.add(`${redirect} ${headers?.['cloudflare-workers-version-overrides']}`);
    return undefined;
  });
  await smoke.smokeTest({ ...subject, override: 'store="new"' });
  expect(limits).toEqual(requests.map(() => 30_000));
  expect([...settings]).toEqual(['manual store="new"']);
});

test('the test of reads uses only what every version has, and a key for all but the health check', async () => {
  const keys: string[] = [];
  const requests = useStore((_, { headers }) => {
    keys.push(headers?.authorization ?? '');
    return undefined;
  });
  await smoke.testReads(subject);
  const own = `Bearer ${subject.apiKey}`;
  expect(requests.map((request, i) => `${request} ${keys[i]}`)).toEqual([
    // The firewall rule of the operations page blocks requests without a key, except those of the health check.
    ...Array(5).fill('GET /health '),
    'GET /pets Bearer x',
    `GET /pets?limit=1 ${own}`,
    `GET /pets?limit=0 ${own}`,
  ]);
});

test.each([
  ['an invalid key is accepted', 'GET /pets', 'GET /pets: 200, not 401 invalid_api_key'],
  ['a list fails', 'GET /pets?limit=1', 'GET /pets?limit=1: 500'],
  ['an error is none', 'GET /pets?limit=0', 'GET /pets?limit=0: 200, not 400 invalid_request'],
])('the test of reads fails when %s', async (_, request, error) => {
  const answer = () => (request.endsWith('1') ? fail() : Response.json([]));
  useStore((each) => (each === request ? answer() : undefined));
  await expect(smoke.testReads(subject)).rejects.toThrow(error);
});

test('only a read is sent once more after a network error', async () => {
  const requests = useStore(at('GET /pets?limit=0', 1, reset));
  await smoke.testReads(subject);
  expect(requests.filter((request) => request.endsWith('=0'))).toHaveLength(2);
  useStore((request) => (request.endsWith('=0') ? reset() : undefined));
  await expect(smoke.testReads(subject)).rejects.toThrow('GET /pets?limit=0: connection reset');
});

test.each([
  [401, 'production', 'npm run keys -- create --label Smoke --read-only --env production'],
  [403, 'staging', 'npm run keys -- create --label Smoke --env staging'],
  [429, 'staging', 'GET /pets?limit=1: 429, not 200'],
])('after a %i on %s, the error says what to do', async (status, environment, end) => {
  const { version } = subject;
  useStore((request) => {
    if (request === 'GET /health') return Response.json({ environment, version });
    return request === 'GET /pets?limit=1' ? new Response('', { status }) : undefined;
  });
  const tested = smoke.testReads({ ...subject, environment });
  const message = await tested.catch((error: Error) => error.message);
  expect(String(message).endsWith(end)).toBe(true);
});

test('a version must answer five times in a row', async () => {
  const requests = useStore(at('GET /health', 5, fail));
  await smoke.testReads(subject);
  expect(requests.filter((request) => request === 'GET /health')).toHaveLength(5 + 5);
  expect(pauses).toEqual([500]);
});

test('an interrupt ends the wait for a version', async () => {
  const stop = new AbortController();
  useStore(at('GET /health', 1, () => void stop.abort(new Error('interrupted'))));
  const tested = smoke.testReads({ ...subject, signal: stop.signal });
  await expect(tested).rejects.toThrow(/^interrupted$/);
});

test.each([{ version: 'other' }, { environment: 'staging' }])(
  'the smoke test fails after a minute without %j, and has only requested the health check',
  async (expected) => {
    const requests = useStore(() => Response.json({ ...subject }));
    const start = Date.now();
    const tested = smoke.smokeTest({ ...subject, ...expected });
    await expect(tested).rejects.toThrow(`${subject.baseUrl}: GET /health: {"found"`);
    expect(Date.now() - start).toBe(60_500);
    expect(new Set(requests)).toEqual(new Set(['GET /health']));
  },
);
