/** Options of the client and of a call, and what they send. */
import { afterEach, expect, test, vi } from 'vitest';
import { createAnimalStore, parseJson } from '../src/index.ts';
import { clientWith, lost, REX, rex, unavailable } from './fake.ts';

afterEach(() => void vi.unstubAllGlobals());

const VALID = { baseUrl: 'https://animal-store.example/v1', apiKey: 'key' };

test.each([
  [
    'baseUrl',
    [
      'localhost:8787/v1',
      'shttps://a.example/v1',
      'https://a.example:x',
      'https://a.example/v1?x',
      'https://a.example/v1#x',
      'https://me@a.example/v1',
      'http://127.a.b.example/v1',
      'http://localhost.example/v1',
      undefined,
    ],
  ],
  ['apiKey', ['', 'no key', 'secret\n', 'sécret', undefined]],
  ['deadlineMs', [0, Number.NaN, '5']],
  [
    'headers',
    [new Headers({ a: 'b' }), [['a', 'b']], { a: 7 }, { a: 'secret\n' }, { a: 'sécret' }],
  ],
  ['fetch', ['fetch']],
  ['signal', ['signal', new AbortController()]],
  // Not options of the client.
  ['baseURL', ['https://a.example/v1']],
  ['idempotencyKey', ['mine']],
])('an invalid %s is a TypeError that names it', (name, values) => {
  for (const value of values) {
    const create = createAnimalStore.bind(null, Object.assign({}, VALID, { [name]: value }));
    expect(create).toThrow(new RegExp(`^${name}: \\w`));
    expect(create).not.toThrow('secret');
  }
});

test.each(['', 'ä', ' a', 'a ', 'a'.repeat(256)])(
  'the idempotencyKey %j of a call is a TypeError that names it, and sends nothing',
  async (idempotencyKey) => {
    const { store, requests } = clientWith([rex]);
    const call = store.createPet(REX, { idempotencyKey });
    await expect(call).rejects.toThrow(/^idempotencyKey: \w/);
    expect(requests).toEqual([]);
  },
);

test('an idempotencyKey of a call that creates nothing is a TypeError', async () => {
  const { store } = clientWith([rex]);
  const options = Object({ idempotencyKey: 'mine' });
  for (const call of [store.getPet(1n, options), store.updatePet(1n, {}, options)])
    await expect(call).rejects.toThrow('idempotencyKey: ');
});

test.each(['http://LOCALHOST:1/v1', 'http://ab.localhost', 'http://127.0.0.21', 'http://[::1]'])(
  '%s is on this machine: it may be http',
  (baseUrl) => void createAnimalStore({ ...VALID, baseUrl }),
);

/** Callers in JavaScript. */
test.each([null, undefined])(
  'an option that is %s is none, for a client and for a call',
  async (none) => {
    const limits = { deadlineMs: none, attemptTimeoutMs: none, signal: none, headers: none };
    const store = createAnimalStore(Object({ ...VALID, ...limits, maxAttempts: 1, fetch: none }));
    // Each call looks the global `fetch` up.
    vi.stubGlobal('fetch', unavailable);
    const options = Object({ ...limits, maxAttempts: none, idempotencyKey: none });
    for (const call of [
      store.createPet(REX, options),
      store.listPets(Object({ status: none }), options).page(),
    ])
      await expect(call).rejects.toMatchObject({ code: 'service_unavailable', attempts: 1 });
  },
);

test.each(['', null])('a session from %j is a TypeError', (start) => {
  const { store } = clientWith([rex]);
  const session = () => Reflect.apply(store.session, undefined, [start]);
  expect(session).toThrow(new TypeError('start: must be printable ASCII without spaces'));
});

test('a create sends the newest key and all headers, and a GET only the key', async () => {
  const client = { traceparent: 'client', authorization: 'none', 'x-app': 'web' };
  const keys = ['old', 'new'];
  const apiKey = async () => keys.shift() ?? '';
  const { store, requests } = clientWith([lost, rex], { headers: client, apiKey });
  const headers = { TraceParent: 'call', 'idempotency-key': 'mine' };
  await store.createPet(REX, { headers });
  expect(Object.fromEntries(requests[1]?.headers ?? [])).toEqual({
    authorization: 'Bearer new',
    'content-type': 'application/json',
    'idempotency-key': 'mine',
    traceparent: 'call',
    'x-app': 'web',
  });
  expect(requests[1]?.redirect).toBe('manual');
  const plain = clientWith([rex]);
  await plain.store.getPet(1n);
  expect([...(plain.requests[0]?.headers ?? [])]).toEqual([['authorization', 'Bearer key']]);
});

test('a runtime without JSON.rawJSON is one clear error', () => {
  const { parse, stringify } = JSON;
  vi.stubGlobal('JSON', { parse, stringify });
  const message = 'animal-store-client needs JSON.rawJSON (Node.js 22)';
  expect(() => createAnimalStore(VALID)).toThrow(message);
  expect(() => parseJson('{}')).toThrow(message);
});
