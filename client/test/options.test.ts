/** Options of the client and of a call, and what they send. */
import { afterEach, expect, onTestFinished, test, vi } from 'vitest';
import { createAnimalStore, parseJson } from '../src/index.ts';
import { clientWith, headerOf, lost, REX, rex, unavailable } from './fake.ts';

afterEach(() => void vi.unstubAllGlobals());

const VALID = { baseUrl: 'https://animal-store.example/v1', apiKey: 'key' };

test.each([
  [
    'baseUrl',
    [
      ...['', 'localhost:8787/v1', '/v1', 'ftp://a.example/v1', 'http://', undefined, 7],
      ...['https://a.example/v1?x', 'https://a.example/v1#x', 'https://me@a.example/v1'],
      ...['http://127.a.example/v1', 'http://localhost.example/v1', ' https://a.example/v1'],
      ...['http://me@localhost', 'https://', 'https://a.example:x'],
    ],
  ],
  ['apiKey', ['', 'no key', 'secret\n', 'sécret', undefined, 7]],
  ['deadlineMs', [0, -1, Number.NaN, '5']],
  ['attemptTimeoutMs', [0, Number.NaN]],
  ['maxAttempts', [0, Number.NaN]],
  [
    'headers',
    [new Headers({ a: 'b' }), new Map([['a', 'b']]), { a: undefined }, { a: 7 }, [['a', 'b']], 'a'],
  ],
  ['fetch', ['fetch', {}]],
  ['signal', ['signal', new AbortController()]],
  // Not options of the client.
  ['baseURL', ['https://a.example/v1']],
  ['idempotencyKey', ['mine']],
  ['body', [{}]],
])('an invalid %s is a TypeError that names it', (name, values) => {
  for (const value of values) {
    const create = createAnimalStore.bind(null, Object.assign({}, VALID, { [name]: value }));
    expect(create).toThrow(TypeError);
    expect(create).toThrow(`${name}: `);
    expect(create).not.toThrow('secret');
  }
});

test.each([
  ['deadlineMs', [Number.NaN]],
  ['maxAttempt', [1]],
  // Of a GET.
  ['idempotencyKey', ['mine']],
  ['body', [{}, '']],
  ['headers', [new Headers({ a: 'b' })]],
])(
  'an invalid %s of a call is a TypeError that names it, and sends nothing',
  async (name, values) => {
    const { store, requests } = clientWith([rex]);
    for (const value of values) {
      const call = store.getPet(1n, Object({ [name]: value }));
      await expect(call).rejects.toThrow(`${name}: `);
    }
    expect(requests).toEqual([]);
  },
);

test.each(['http://localhost:1/v1', 'http://a.localhost', 'http://127.0.0.2', 'http://[::1]'])(
  '%s is on this machine: it may be http',
  (baseUrl) => void createAnimalStore({ ...VALID, baseUrl }),
);

test.each(['secret\nsecret', 'secret\r', 'secret\0', 'sécret', 'secret 🐈'])(
  'a header with the value %j is a TypeError that names the header, and sends nothing',
  async (value) => {
    const { store, requests } = clientWith([rex]);
    const error = new TypeError('headers: X-App must be printable ASCII');
    await expect(store.getPet(1n, { headers: { 'X-App': value } })).rejects.toThrow(error);
    expect(() => clientWith([rex], { headers: { 'X-App': value } })).toThrow(error);
    expect(requests).toEqual([]);
  },
);

test('a header with an invalid name is a TypeError, and sends nothing', async () => {
  const { store, requests } = clientWith([rex]);
  await expect(store.getPet(1n, { headers: { 'a b': 'c' } })).rejects.toThrow(TypeError);
  expect(requests).toEqual([]);
});

test.each(['', 'ä', 'a'.repeat(256)])('an idempotencyKey %j is a TypeError', async (key) => {
  const { store, requests } = clientWith([rex]);
  const call = store.createPet(REX, { idempotencyKey: key });
  await expect(call).rejects.toThrow('idempotencyKey: must be 1 to 255 characters');
  expect(requests).toEqual([]);
});

test('null options are none, for a client and for a call', async () => {
  vi.stubGlobal('fetch', unavailable);
  const none = {
    ...{ deadlineMs: null, attemptTimeoutMs: null, signal: null, headers: null },
    ...{ idempotencyKey: null, maxAttempts: null },
  };
  const { idempotencyKey: _, maxAttempts: __, ...ofClient } = none;
  // A caller in JavaScript.
  const store = createAnimalStore(Object({ ...VALID, ...ofClient, maxAttempts: 1, fetch: null }));
  const failure = { code: 'service_unavailable', attempts: 1 };
  for (const options of [Object(none), JSON.parse('null')]) {
    await expect(store.createPet(REX, options)).rejects.toMatchObject(failure);
    await expect(store.listPets(options && {}, options).page()).rejects.toMatchObject(failure);
  }
});

test.each(['a\nb', '', 'a b', 'ä', null, 7])('a session from %j is a TypeError', (start) => {
  const { store } = clientWith([rex]);
  const session = () => Reflect.apply(store.session, undefined, [start]);
  expect(session).toThrow(new TypeError('start: must be printable ASCII without spaces'));
});

test('headers of an object without a prototype are sent', async () => {
  const { store, requests } = clientWith([rex]);
  const headers = Object.assign(Object.create(null), { traceparent: 'mine' });
  await store.getPet(1n, { headers });
  expect(headerOf(requests, 'traceparent')).toEqual(['mine']);
});

test('an undefined option of a call keeps that of the client', async () => {
  const { store } = clientWith([unavailable], { maxAttempts: 1 });
  const none = { maxAttempts: undefined, idempotencyKey: undefined };
  await expect(store.createPet(REX, none)).rejects.toMatchObject({ attempts: 1 });
});

test('the limits of a call replace those of the client', async () => {
  const { store } = clientWith([unavailable], { maxAttempts: 2 });
  await expect(store.createPet(REX, { maxAttempts: 1 })).rejects.toMatchObject({ attempts: 1 });
});

test('a create sends the key, all headers and the exact JSON, and a GET only the key', async () => {
  const client = { traceparent: 'client', authorization: 'none', 'x-app': 'web' };
  const { store, requests } = clientWith([rex], { headers: client });
  const headers = { TraceParent: 'call', 'idempotency-key': 'mine' };
  await store.createPet({ ...REX, categoryId: 9007199254740993n }, { headers });
  const [request = new Request('https://none.example')] = requests;
  expect(Object.fromEntries(request.headers)).toEqual({
    authorization: 'Bearer key',
    'content-type': 'application/json',
    'idempotency-key': 'mine',
    traceparent: 'call',
    'x-app': 'web',
  });
  expect(await request.text()).toContain('"categoryId":9007199254740993,');
  const plain = clientWith([rex]);
  await plain.store.getPet(1n);
  expect([...(plain.requests[0]?.headers ?? [])]).toEqual([['authorization', 'Bearer key']]);
});

test('an apiKey function is called for each attempt: the key can change during a call', async () => {
  const keys = ['old', 'new'];
  const { store, requests } = clientWith([lost, rex], { apiKey: async () => keys.shift() ?? '' });
  await store.getPet(1n);
  expect(headerOf(requests, 'Authorization')).toEqual(['Bearer old', 'Bearer new']);
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
  const message = 'animal-store-client needs JSON.rawJSON: Node.js 22 or later';
  expect(() => createAnimalStore(VALID)).toThrow(message);
  expect(() => parseJson('{}')).toThrow(message);
});
