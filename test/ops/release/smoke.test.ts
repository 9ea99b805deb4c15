/** The smoke test, against a store in the real runtime, and against its recorded answers with a lie among them. */
import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Store } from '../../../ops/release/smoke.ts';
import { importWith } from '../../support/command.ts';
import { type RequestOptions, startStore } from '../../support/store.ts';

const store = startStore();

type Smoke = typeof import('../../../ops/release/smoke.ts');
type Sent = RequestOptions & { method: string; signal: AbortSignal; redirect: string };
type Answer = { request: string; response: Response };
/** Answers a request, such as `GET /pets/1`, or not. */
type Respond = (request: string, sent: Sent) => Response | undefined;

const REX = { name: 'Rex', categoryId: 1, status: 'available' };
const fail = () => Response.json({ code: 'internal_error' }, { status: 500 });
const reset = () => {
  throw new Error('connection reset');
};

let smoke: Smoke;
let subject: Store;
/** The answers to an undisturbed smoke test, which is run only once. */
let recording: Answer[] | undefined;
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
  for (const _ of [1, 2]) await store.createPet(REX);
  recording ??= await record();
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

const pathOf = (url: string) => url.replace(subject.baseUrl, '');

/** Answers the nth request that begins so. */
function at(start: string, nth: number, answer: () => Response | undefined): Respond {
  let count = 0;
  return (request) => {
    if (!request.startsWith(start)) return undefined;
    count += 1;
    return count === nth ? answer() : undefined;
  };
}

/** Answers the smoke test's requests, without the proxy of `wrangler dev`. Returns them. */
function answerBy(answer: (request: string, sent: Sent) => Promise<Response> | Response): string[] {
  const requests: string[] = [];
  vi.stubGlobal('fetch', async (url: string, sent: Sent) => {
    const request = `${sent.method} ${pathOf(url)}`;
    requests.push(request);
    if (sent.signal.aborted) throw sent.signal.reason;
    return answer(request, sent);
  });
  return requests;
}

async function askStore(request: string, sent: Sent): Promise<Response> {
  const path = request.replace(`${sent.method} `, '/v1');
  const reply = await store.fetch(path, { ...sent, key: null });
  return new Response(reply.text || null, reply);
}

/** The worker answers, unless `respond` does. */
const useStore = (respond: Respond = () => undefined) =>
  answerBy((request, sent) => respond(request, sent) ?? askStore(request, sent));

async function record(): Promise<Answer[]> {
  const answers: Answer[] = [];
  answerBy(async (request, sent) => {
    const response = await askStore(request, sent);
    answers.push({ request, response });
    return response.clone();
  });
  await smoke.smokeTest(subject);
  return answers;
}

/** The recording answers, unless `respond` does: each request gets its next answer, or again its last one. */
function useRecording(respond: Respond): string[] {
  const answers = Map.groupBy(recording ?? [], ({ request }) => request);
  return answerBy((request, sent) => {
    const lie = respond(request, sent);
    if (lie) return lie;
    const [next, ...rest] = answers.get(request) ?? [];
    if (rest.length > 0) answers.set(request, rest);
    return next?.response.clone() ?? new Response('', { status: 404 });
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
  // By then it has an animal, and an order that must end before its animal can be deleted.
  useStore(at('PATCH /store/orders', 1, () => void controller.abort()));
  const interrupted = smoke.smokeTest({ ...subject, signal: controller.signal });
  await expect(interrupted).rejects.toThrow('aborted');
  expect((await store.fetch('/v1/pets')).body).toHaveLength(2);
});

test('the clean-up goes on after a deletion that fails', async () => {
  const failPatch = at('PATCH /store/orders', 1, fail);
  // Of the clean-up. It comes twice, because the create was repeated.
  const failDelete = at('DELETE /store/orders', 1, reset);
  useStore((request, sent) => failPatch(request, sent) ?? failDelete(request, sent));
  await expect(smoke.smokeTest(subject)).rejects.toThrow(/^PATCH .*{"found":"500/);
  expect((await store.fetch('/v1/pets')).body).toHaveLength(2);
});

test('every request has a deadline of 30 s, no redirect, and the version of the override', async () => {
  const limits: number[] = [];
  vi.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => {
    limits.push(ms);
    return new AbortController().signal;
  });
  const settings = new Set<string>();
  const requests = useRecording((_, { redirect, headers }) => {
    settings.add(`${redirect} ${headers?.['cloudflare-workers-version-overrides']}`);
    return undefined;
  });
  await smoke.testReads({ ...subject, override: 'store="new"' });
  expect(limits).toEqual(requests.map(() => 30_000));
  expect([...settings]).toEqual(['manual store="new"']);
});

test('the test of reads uses only what every version has, and a key for all but the health check', async () => {
  const sent = new Set<string>();
  useRecording((request, { headers }) => {
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
  const answers = recording ?? [];
  const created = answers.filter(({ response }) => response.status === 201);
  // The clean-up may fail: an order has no DELETE, so there are two requests to cancel it.
  const orders = created.filter(({ request }) => request.endsWith('/orders'));
  const last = answers.length - created.length - orders.length;
  expect(last).toBeGreaterThan(15);
  for (const [i, { request }] of answers.slice(0, last).entries()) {
    if (request === 'GET /health') continue;
    const requests = useRecording(at('', i + 1, fail));
    await expect(smoke.smokeTest(subject), `${i} ${request}`).rejects.toThrow('500 internal_error');
    const paths = created
      .filter((answer) => answers.indexOf(answer) < i)
      .map(({ response }) => `DELETE ${pathOf(response.headers.get('location') ?? '')}`);
    expect(requests.slice(i + 1), `${i} ${request}`).toEqual(expect.arrayContaining(paths));
  }
});

/** A response whose body is cut off. */
function cutOff(): Response {
  const body = new ReadableStream({ start: (stream) => stream.error(new Error('cut off')) });
  return new Response(body, { headers: { 'content-type': 'application/json' } });
}
const json =
  (body: unknown, status = 200) =>
  () =>
    Response.json(body, { status });

/** The answer to the nth of a request, and the error. */
test.each<[title: string, request: string, nth: number, answer: () => Response, error: string]>([
  ['has no connection', 'GET /pets?limit=0', 1, reset, 'GET /pets?limit=0: connection reset'],
  ['is cut off', 'GET /pets/-1', 1, cutOff, 'GET /pets/-1: cut off'],
  ['has a page that is not later', 'GET /pets?limit=1&after=1', 1, json([{ id: 1 }]), 'is later'],
  [
    'has another animal than was created',
    'GET /pets/3',
    1,
    json({ ...REX, id: 3, name: 'Max' }),
    'GET /pets/{petId}: ',
  ],
  [
    'creates another animal at a repeated create',
    'POST /pets',
    3,
    json({ ...REX, id: 7 }, 201),
    'the repeated POST /pets: ',
  ],
  [
    'has not sold the animal of a delivered order',
    'GET /pets/3',
    2,
    json({ ...REX, id: 3 }),
    'the status of the sold animal',
  ],
])('the smoke test fails when the store %s', async (_, request, nth, answer, error) => {
  useRecording(at(request, nth, answer));
  await expect(smoke.smokeTest(subject)).rejects.toThrow(error);
});

test('the test of reads passes when another client deletes the animal that it reads', async () => {
  useRecording(at('GET /pets/1', 1, json({ code: 'pet_not_found' }, 404)));
  await smoke.testReads(subject);
});

test('the test of reads waits as long as each 429 says, or a second, and repeats', async () => {
  const limits = [{ 'Retry-After': '7' }, {}];
  const requests = useRecording((request) => {
    const headers = request === 'POST /pets' && limits.shift();
    return headers ? new Response('', { status: 429, headers }) : undefined;
  });
  await smoke.testReads(subject);
  expect(requests.filter((request) => request === 'POST /pets')).toHaveLength(3);
  expect(pauses).toEqual([7_000, 1_000]);
});

test('the key is sent to no other host by a Link', async () => {
  const headers = { link: '<https://evil.test/v1/pets?limit=1&after=1>; rel="next"' };
  const page = () => Response.json([{ id: 1 }], { headers });
  const requests = useRecording(at('GET /pets?limit=1', 1, page));
  await smoke.testReads(subject);
  expect(requests).toContain('GET /pets?limit=1&after=1');
});

test('a version must answer five times in a row', async () => {
  const requests = useRecording(at('GET /health', 5, fail));
  await smoke.testReads(subject);
  expect(requests.filter((request) => request === 'GET /health')).toHaveLength(5 + 5);
  expect(pauses).toEqual([500]);
});

test('an interrupt ends the wait for a version', async () => {
  const controller = new AbortController();
  useRecording(at('GET /health', 1, () => void controller.abort(new Error('interrupted'))));
  const tested = smoke.testReads({ ...subject, signal: controller.signal });
  await expect(tested).rejects.toThrow(/^interrupted$/);
});

test.each([{ version: 'other' }, { environment: 'staging' }])(
  'the smoke test fails after a minute without %j, and has only requested the health check',
  async (expected) => {
    const requests = useRecording(() => undefined);
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
  const requests = useRecording((request, { body }) => {
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
