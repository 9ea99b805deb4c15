/** Options of the client and of a call. */
import { expect, test } from 'vitest';
import { version } from '../../client/package.json' with { type: 'json' };
import { createAnimalStore } from '../../client/src/index.ts';
import { ANSWERS, clientWith, REX } from './fake.ts';

const VALID = { baseUrl: 'https://animal-store.example/v1', apiKey: 'key' };
const { rex, lost, unavailable } = ANSWERS;

test.each([
  ['baseUrl', ['', 'localhost:8787/v1', '/v1', 'ftp://a.example/v1', 'http://', undefined]],
  ['baseUrl', ['https://a.example/v1?x', 'https://a.example/v1#x', 'https://me@a.example/v1']],
  ['baseUrl', ['http://a.example/v1', 'http://127.a.example/v1', 'http://localhost.example/v1']],
  ['apiKey', ['', 'no key', 'secret\n', 'sécret', undefined, 7]],
  ['deadlineMs', [0, -1, Number.NaN, '5']],
  ['attemptTimeoutMs', [0, Number.NaN]],
  ['maxAttempts', [0, Number.NaN]],
])('%s: each of %j is a TypeError that names the option', (name, values) => {
  for (const value of values) {
    const create = createAnimalStore.bind(null, Object.assign({}, VALID, { [name]: value }));
    expect(create).toThrow(TypeError);
    expect(create).toThrow(new RegExp(`^${name}: must (?!.*secret)`));
  }
});

test('an invalid option of a call, or key from a function, is a TypeError as well', async () => {
  const { store, requests } = clientWith([rex], { apiKey: () => 'no key' });
  await expect(store.getHealth({ deadlineMs: Number.NaN })).rejects.toThrow(/^deadlineMs: /);
  await expect(store.getHealth()).rejects.toThrow(/^apiKey: /);
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

test('headers are added, those of the call replace those of the client', async () => {
  const options = { headers: { traceparent: 'client', authorization: 'none', 'x-app': 'web' } };
  const { store, requests } = clientWith([rex], options);
  await store.getPet(1n, { headers: { TraceParent: 'call' } });
  expect(Object.fromEntries(requests[0]?.headers ?? [])).toEqual({
    authorization: 'Bearer key',
    'user-agent': `animal-store-client/${version}`,
    traceparent: 'call',
    'x-app': 'web',
  });
});

test('apiKey may be a function, called once for each call', async () => {
  const keys = ['first', 'second'];
  const { store, requests } = clientWith([lost, rex], { apiKey: async () => keys.shift() ?? '' });
  await store.getPet(1n);
  await store.getPet(1n);
  const sent = requests.map(({ headers }) => headers.get('Authorization'));
  expect(sent).toEqual(['Bearer first', 'Bearer first', 'Bearer second']);
});
