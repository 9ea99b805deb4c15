/** The smoke test, against a store in the real runtime, and against its recorded answers with a lie among them. */
import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Store } from '../../../ops/release/smoke.ts';
import { importWith } from '../../support/command.ts';
import { type RequestOptions, startStore } from '../../support/store.ts';

const store = startStore();

type Smoke = typeof import('../../../ops/release/smoke.ts');
type Sent = RequestOptions & { method: string; signal: AbortSignal; redirect: string };
type Answer = { request: string; status: number; headers: [string, string][]; text: string };
/** Answers a request, such as `GET /pets/1`, or not. */
type Respond = (request: string, sent: Sent) => Response | undefined;

const REX = { name: 'Rex', categoryId: 1, status: 'available' };
const fail = () => Response.json({ code: 'internal_error' }, { status: 500 });

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
  // Of other clients. The smoke test reads the first one, and its own one is the third.
  for (const _ of [1, 2]) await store.create(REX);
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

const pathOf = (url: string) => url.replace(subject.baseUrl, '');

/** The smoke test's requests are answered by the worker, without the proxy of `wrangler dev`, unless `respond` does. */
function useStore(respond: Respond = () => undefined): string[] {
  const requests: string[] = [];
  vi.stubGlobal('fetch', async (url: string, sent: Sent) => {
    const request = `${sent.method} ${pathOf(url)}`;
    requests.push(request);
    if (sent.signal.aborted) throw sent.signal.reason;
    const response = respond(request, sent);
    if (response) return response;
    const reply = await store.fetch(`/v1${pathOf(url)}`, { ...sent, key: null });
    return new Response(reply.text || null, reply);
  });
  return requests;
}

/** The answers to an undisturbed smoke test, which is run only once. */
let recording: Answer[] | undefined;

async function record(): Promise<Answer[]> {
  const answers: Answer[] = [];
  vi.stubGlobal('fetch', async (url: string, sent: Sent) => {
    const { status, headers, text } = await store.fetch(`/v1${pathOf(url)}`, {
      ...sent,
      key: null,
    });
    answers.push({ request: `${sent.method} ${pathOf(url)}`, status, headers: [...headers], text });
    return new Response(text || null, { status, headers });
  });
  await smoke.smokeTest(subject);
  return answers;
}

/** As `useStore`, with the recorded answers instead of the store: each request gets its next one, or again its last one. */
async function useRecording(respond: Respond): Promise<string[]> {
  recording ??= await record();
  const answers = Map.groupBy(recording, ({ request }) => request);
  return useStore((request, sent) => {
    const lie = respond(request, sent);
    if (lie) return lie;
    const [next, ...rest] = answers.get(request) ?? [];
    if (rest.length > 0) answers.set(request, rest);
    const { status, headers, text } = next ?? { status: 404, headers: [], text: '' };
    return new Response(text || null, { status, headers });
  });
}

test('the smoke test passes, and removes its animals and nobody else’s', async () => {
  const { body } = await store.fetch('/v1/pets');
  useStore();
  await smoke.smokeTest(subject);
  expect((await store.fetch('/v1/pets')).body).toEqual(body);
});

test('the smoke test removes its animals after an interrupt, too', async () => {
  const controller = new AbortController();
  useStore((request) => {
    // By then it has an animal, and an order that must end before its animal can be deleted.
    if (request.startsWith('PATCH /store/orders')) controller.abort();
    return undefined;
  });
  const interrupted = smoke.smokeTest({ ...subject, signal: controller.signal });
  await expect(interrupted).rejects.toThrow('aborted');
  expect((await store.fetch('/v1/pets')).body).toHaveLength(2);
});

test('the clean-up goes on after a deletion that fails', async () => {
  const seen: string[] = [];
  const isFirst = (request: string, start: string) =>
    request.startsWith(start) && seen.filter((each) => each.startsWith(start)).length === 1;
  useStore((request) => {
    seen.push(request);
    if (isFirst(request, 'PATCH /store/orders')) return fail();
    // Of the clean-up. It comes twice, because the create was repeated.
    if (isFirst(request, 'DELETE /store/orders')) throw new Error('connection reset');
    return undefined;
  });
  const error = 'PATCH /store/orders/1: {"found":"500';
  await expect(smoke.smokeTest(subject)).rejects.toThrow(error);
  expect(seen.filter((request) => request === 'DELETE /store/orders/1')).toHaveLength(2);
  expect((await store.fetch('/v1/pets')).body).toHaveLength(2);
});

test('every request has its own deadline of 30 s, no redirect, and the version of the override', async () => {
  const limits: number[] = [];
  vi.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => {
    limits.push(ms);
    return new AbortController().signal;
  });
  const signals = new Set<unknown>();
  const settings = new Set<string>();
  const requests = await useRecording((_, { signal, redirect, headers }) => {
    signals.add(signal);
    settings.add(`${redirect} ${headers?.['cloudflare-workers-version-overrides']}`);
    return undefined;
  });
  // Those of the recording, if this test runs first.
  limits.length = 0;
  await smoke.testReads({ ...subject, override: 'store="new"' });
  expect(limits).toEqual(requests.map(() => 30_000));
  expect(signals.size).toBe(requests.length);
  expect([...settings]).toEqual(['manual store="new"']);
});

test('the test of reads uses only what every version has, and a key for all but the health check', async () => {
  const sent = new Set<string>();
  await useRecording((request, { headers }) => {
    sent.add(`${request}${headers?.authorization ? '' : ' without a key'}`);
    return undefined;
  });
  await smoke.testReads(subject);
  // The firewall rule of the operations page blocks requests without a key, except those of the health check.
  expect([...sent]).toEqual([
    'GET /health without a key',
    'POST /pets',
    'GET /pets',
    'GET /pets?limit=0',
    'GET /pets/-1',
    'GET /pets?limit=1',
    'GET /pets?limit=1&after=1',
    'GET /pets/1',
  ]);
});

test('a key with other scopes is refused, with the command that creates the right one', async () => {
  const readOnly = await store.issueKey({ scopes: ['read'] });
  useStore();
  const command = 'npm run keys -- create --label Smoke --env local';
  for (const apiKey of [readOnly, 'x', ''])
    await expect(smoke.smokeTest({ ...subject, apiKey })).rejects.toThrow(command);
  expect((await store.fetch('/v1/pets')).body).toHaveLength(2);
});

test('the test of reads needs a read-only key in production', async () => {
  const readOnly = await store.issueKey({ scopes: ['read'] });
  // The store under test, which says that it is production.
  const production = { ...subject, environment: 'production' };
  const { environment, version } = production;
  const health = () => Response.json({ environment, version });
  useStore((request) => (request === 'GET /health' ? health() : undefined));
  await smoke.testReads({ ...production, apiKey: readOnly });
  await expect(smoke.testReads(production)).rejects.toThrow('Smoke --read-only --env production');
});

test('the smoke test fails when any of its requests fails, and removes what it has created', async () => {
  recording ??= await record();
  const created = recording.filter(({ status }) => status === 201);
  // The clean-up may fail: an order has no DELETE, so there are two requests to cancel it.
  const orders = created.filter(({ request }) => request.endsWith('/orders'));
  const last = recording.length - created.length - orders.length;
  expect(last).toBeGreaterThan(25);
  for (const [i, { request }] of recording.slice(0, last).entries()) {
    if (request === 'GET /health') continue;
    let sent = -1;
    const requests = await useRecording(() => {
      sent += 1;
      return sent === i ? fail() : undefined;
    });
    await expect(smoke.smokeTest(subject), `${i} ${request}`).rejects.toThrow('500 internal_error');
    const paths = recording
      .slice(0, i)
      .flatMap(({ request, status, text }) =>
        status === 201 ? [`DELETE ${request.slice('POST '.length)}/${JSON.parse(text).id}`] : [],
      );
    expect(requests.slice(i + 1), `${i} ${request}`).toEqual(expect.arrayContaining(paths));
  }
});

/** A response whose body is cut off. */
function cutOff(): Response {
  const body = new ReadableStream({ start: (stream) => stream.error(new Error('cut off')) });
  return new Response(body, { headers: { 'content-type': 'application/json' } });
}
const reset = () => {
  throw new Error('connection reset');
};
const truth = () => undefined;
const json =
  (body: unknown, status = 200) =>
  () =>
    Response.json(body, { status });

/** A request, its answers, of which the last one is repeated, and the error. */
test.each<[title: string, request: string, answers: (() => Response | undefined)[], error: string]>(
  [
    ['has no connection', 'GET /pets?limit=0', [reset], 'GET /pets?limit=0: connection reset'],
    ['is cut off', 'GET /pets/-1', [cutOff], 'GET /pets/-1: cut off'],
    ['has a page that is not later', 'GET /pets?limit=1&after=1', [json([{ id: 1 }])], 'is later'],
    [
      'has another animal than was created',
      'GET /pets/3',
      [json({ ...REX, id: 3, name: 'Max' })],
      'GET /pets/{petId}: ',
    ],
    [
      'creates another animal at a repeated create',
      'POST /pets',
      [truth, truth, json({ ...REX, id: 7 }, 201)],
      'the repeated POST /pets: ',
    ],
    [
      'has not sold the animal of a delivered order',
      'GET /pets/3',
      [truth, json({ ...REX, id: 3 })],
      'the status of the sold animal',
    ],
  ],
)('the smoke test fails when the store %s', async (_, meant, answers, error) => {
  const left = [...answers];
  await useRecording((request) => {
    if (request !== meant) return undefined;
    const answer = left.length > 1 ? left.shift() : left[0];
    return answer?.();
  });
  await expect(smoke.smokeTest(subject)).rejects.toThrow(error);
});

test('the test of reads passes when another client deletes the animal that it reads', async () => {
  const deleted = json({ code: 'pet_not_found' }, 404);
  await useRecording((request) => (request === 'GET /pets/1' ? deleted() : undefined));
  await smoke.testReads(subject);
});

test('the test of reads waits as long as each 429 says, or a second, and repeats', async () => {
  const limits = [{ 'Retry-After': '7' }, {}];
  const requests = await useRecording((request) => {
    const headers = request === 'POST /pets' && limits.shift();
    return headers ? new Response('', { status: 429, headers }) : undefined;
  });
  await smoke.testReads(subject);
  expect(requests.filter((request) => request === 'POST /pets')).toHaveLength(3);
  expect(pauses).toEqual([7_000, 1_000]);
});

test('the key is sent to no other host by a Link', async () => {
  const headers = { link: '<https://evil.test/v1/pets?limit=1&after=1>; rel="next"' };
  const requests = await useRecording((request) =>
    request === 'GET /pets?limit=1' ? Response.json([{ id: 1 }], { headers }) : undefined,
  );
  await smoke.testReads(subject);
  expect(requests).toContain('GET /pets?limit=1&after=1');
});

test('a version must answer five times in a row', async () => {
  let answers = 0;
  const requests = await useRecording((request) => {
    answers += 1;
    return request === 'GET /health' && answers === 3 ? fail() : undefined;
  });
  await smoke.testReads(subject);
  expect(requests.filter((request) => request === 'GET /health')).toHaveLength(3 + 5);
  expect(pauses).toEqual([500]);
});

test.each([{ version: 'other' }, { environment: 'staging' }])(
  'the smoke test fails after a minute without %j, and has only requested the health check',
  async (expected) => {
    const requests = await useRecording(truth);
    const start = Date.now();
    const [field = ''] = Object.keys(expected);
    const tested = smoke.smokeTest({ ...subject, ...expected });
    await expect(tested).rejects.toThrow(`${subject.baseUrl}: ${field}: {"found"`);
    expect(Date.now() - start).toBe(60_500);
    expect(new Set(requests)).toEqual(new Set(['GET /health']));
  },
);

const SHELTER = { name: 'North', petId: 1 };

test('a new resource is created, read, listed and deleted by its description alone', async () => {
  const description = JSON.parse(readFileSync('public/v1/openapi.json', 'utf8'));
  const examples = { north: { value: SHELTER } };
  const requestBody = { content: { 'application/json': { examples } } };
  Object.assign(description.paths, {
    '/shelters': { get: {}, post: { requestBody } },
    '/shelters/{shelterId}': { get: {}, delete: {} },
  });
  const readFile = async () => JSON.stringify(description);
  const own: Smoke = await importWith('release/smoke.ts', { 'node:fs/promises': { readFile } });
  // The animal of the example, whatever its id is.
  const shelter = { name: 'North', petId: 3 };
  const created = { ...shelter, id: 5 };
  const answers = new Map([
    ['POST /shelters', json(created, 201)],
    ['GET /shelters/5', json(created)],
    ['GET /shelters?limit=1', json([created])],
    ['DELETE /shelters/5', () => new Response(null, { status: 204 })],
  ]);
  const bodies: unknown[] = [];
  const requests = await useRecording((request, { body }) => {
    if (request === 'POST /shelters') bodies.push(JSON.parse(String(body)));
    return answers.get(request)?.();
  });
  await own.smokeTest(subject);
  expect(requests.filter((request) => request.includes('/shelters'))).toEqual([
    'POST /shelters',
    'POST /shelters',
    'GET /shelters/5',
    'GET /shelters?limit=1',
    // The second and the third are of the clean-up.
    ...Array(3).fill('DELETE /shelters/5'),
  ]);
  expect(bodies).toEqual([shelter, shelter]);
});
