/** Options of the client and of a call. */
import { afterEach, expect, onTestFinished, test, vi } from 'vitest';
import { createAnimalStore } from '../../client/src/index.ts';
import { VERSION } from '../../client/src/version.ts';
import { ANSWERS, clientWith, REX } from './fake.ts';

afterEach(() => void vi.unstubAllGlobals());

const VALID = { baseUrl: 'https://animal-store.example/v1', apiKey: 'key' };
const { rex, lost, unavailable } = ANSWERS;

test.each([
  ['baseUrl', ['', 'localhost:8787/v1', '/v1', 'ftp://a.example/v1', 'http://', undefined, 7]],
  ['baseUrl', ['https://a.example/v1?x', 'https://a.example/v1#x', 'https://me@a.example/v1']],
  ['baseUrl', ['http://a.example/v1', 'http://127.a.example/v1', 'http://localhost.example/v1']],
  ['baseUrl', [' https://a.example/v1', 'https://a.example/v1 ', 'https://a.example/\tv1']],
  ['apiKey', ['', 'no key', 'secret\n', 'sécret', undefined, 7]],
  ['deadlineMs', [0, -1, Number.NaN, '5', null]],
  ['attemptTimeoutMs', [0, Number.NaN]],
  ['maxAttempts', [0, Number.NaN]],
  ['headers', [new Headers({ a: 'b' }), { a: undefined }, { a: 7 }, [['a', 'b']], 'a: b']],
  ['fetch', ['fetch', {}]],
  ['signal', ['signal', new AbortController()]],
])('%s: each of %j is a TypeError that names the option', (name, values) => {
  for (const value of values) {
    const create = createAnimalStore.bind(null, Object.assign({}, VALID, { [name]: value }));
    expect(create).toThrow(TypeError);
    expect(create).toThrow(new RegExp(`^${name}: must (?!.*secret)`));
  }
});

test.each(['baseURL', 'retries', 'idempotencyKey', 'body', 'toString'])(
  'the unknown option %s is a TypeError that names it',
  (name) => {
    const options = Object.assign({}, VALID, { [name]: 'value' });
    expect(() => createAnimalStore(options)).toThrow(new TypeError(`${name}: is not an option`));
  },
);

test('an invalid option of a call is a TypeError as well, and sends nothing', async () => {
  const { store, requests } = clientWith([rex]);
  await expect(store.getHealth({ deadlineMs: Number.NaN })).rejects.toThrow(/^deadlineMs: /);
  await expect(store.createPet(REX, { idempotencyKey: '' })).rejects.toThrow(/^idempotencyKey: /);
  const misspelt: object = { maxAttempt: 1 };
  await expect(store.getPet(1n, misspelt)).rejects.toThrow('maxAttempt: is not an option');
  expect(requests).toEqual([]);
});

test.each(['http://localhost:1/v1', 'http://a.localhost', 'http://127.0.0.2', 'http://[::1]'])(
  '%s is on this machine: it may be http',
  (baseUrl) => void createAnimalStore({ ...VALID, baseUrl }),
);

test('an undefined option of a call keeps that of the client', async () => {
  const { store } = clientWith([unavailable], { maxAttempts: 1 });
  const none = { maxAttempts: undefined, idempotencyKey: undefined };
  await expect(store.createPet(REX, none)).rejects.toMatchObject({ attempts: 1 });
});

test('headers are added, and those of the call replace those of the client', async () => {
  const options = { headers: { traceparent: 'client', authorization: 'none', 'x-app': 'web' } };
  const { store, requests } = clientWith([rex], options);
  await store.getPet(1n, { headers: { TraceParent: 'call' } });
  expect(Object.fromEntries(requests[0]?.headers ?? [])).toEqual({
    authorization: 'Bearer key',
    'user-agent': `animal-store-client/${VERSION}`,
    traceparent: 'call',
    'x-app': 'web',
  });
});

test('an Idempotency-Key among the headers is kept', async () => {
  const { store, requests } = clientWith([rex]);
  await store.createPet(REX, { headers: { 'idempotency-key': 'mine' } });
  expect(requests[0]?.headers.get('Idempotency-Key')).toBe('mine');
});

test('an apiKey function is called for each attempt: the key can change during a call', async () => {
  const keys = ['first', 'second', 'third'];
  const { store, requests } = clientWith([lost, rex], { apiKey: async () => keys.shift() ?? '' });
  await store.getPet(1n);
  await store.getPet(1n);
  const sent = requests.map(({ headers }) => headers.get('Authorization'));
  expect(sent).toEqual(['Bearer first', 'Bearer second', 'Bearer third']);
});

test.each([
  ['throws', () => Promise.reject(new Error('vault locked')), 'vault locked'],
  ['returns an invalid key', () => 'secret key', 'apiKey: must be a string'],
])('an apiKey function that %s is an api_key_failed, without a retry', async (_, apiKey, text) => {
  const spy = vi.fn(apiKey);
  const { store, requests } = clientWith([rex], { apiKey: spy });
  const failure = { code: 'api_key_failed', attempts: 0, outcomeUnknown: false };
  const error = await store.createPet(REX).catch((reason) => reason);
  expect(error).toMatchObject({ ...failure, cause: expect.any(Error) });
  expect(error.message).toContain(text);
  expect(error.message).not.toContain('secret');
  expect([requests, spy.mock.calls.length]).toEqual([[], 1]);
});

test('a failed apiKey function does not hide that an earlier attempt may have written', async () => {
  const keys = ['key'];
  const apiKey = () => keys.shift() ?? 'no key';
  const error = await clientWith([lost], { apiKey })
    .store.createPet(REX, { idempotencyKey: 'mine' })
    .catch((reason) => reason);
  const known = { attempts: 1, outcomeUnknown: true, idempotencyKey: 'mine' };
  expect(error).toMatchObject({ code: 'api_key_failed', ...known });
});

test('a call that is aborted while its key is fetched sends nothing', async () => {
  const controller = new AbortController();
  const apiKey = async () => {
    controller.abort();
    return 'key';
  };
  const { store, requests } = clientWith([rex], { apiKey });
  const error = await store.createPet(REX, { signal: controller.signal }).catch((reason) => reason);
  expect(error).toMatchObject({ code: 'aborted', attempts: 0, outcomeUnknown: false });
  expect(requests).toEqual([]);
});

test('the global fetch is looked up at each call', async () => {
  const store = createAnimalStore(VALID);
  vi.stubGlobal('fetch', rex);
  expect(await store.getPet(1n)).toMatchObject({ name: 'Rex' });
});

test('a runtime without JSON.rawJSON is one clear error', () => {
  const { rawJSON } = Object(JSON);
  onTestFinished(() => void Object.assign(JSON, { rawJSON }));
  Object.assign(JSON, { rawJSON: undefined });
  expect(() => createAnimalStore(VALID)).toThrow(/needs JSON\.rawJSON: Node\.js 22 or later/);
});
