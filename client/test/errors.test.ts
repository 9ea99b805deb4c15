/** What an error shows, and what it hides. */
import { inspect } from 'node:util';
import { expect, test, vi } from 'vitest';
import { createAnimalStore } from '../src/index.ts';
import { type Answer, CALLS, clientWith, KEY, problem, REX, reply, rex, send } from './fake.ts';

async function errorWith(answer: Answer) {
  const call = clientWith([answer], { maxAttempts: 1 }).store.createPet(REX);
  return call.catch((error: unknown) => error);
}

test('an error has the code, the message and the request id of the store', async () => {
  const error = await errorWith(problem(409, 'new_code', { 'X-Request-Id': 'id-1' }));
  expect(String(error)).toBe('StoreError: a message');
  expect(JSON.stringify(error)).toBe(
    '{"name":"StoreError","code":"new_code","status":409,"requestId":"id-1","outcomeUnknown":false}',
  );
  expect(error).not.toHaveProperty('cause');
});

test.each([
  '<html>',
  '{"id":"7","status":7}',
  '[{"id":7},{"id":"7"}]',
  '{"code":"a","message":"b"}',
])('a 200 with %s is an invalid_response to every call', async (body) => {
  for (const call of CALLS) {
    const { store } = clientWith([reply(body)]);
    await expect(send(store, call)).rejects.toMatchObject({
      code: 'invalid_response',
      message: `Not from the store: 200 ${body}`,
    });
  }
});

test.each([
  [204, null, true],
  [302, null, true],
  [520, '<html>', true],
  [404, '{"code":"a"}', false],
  [404, '{"code":7,"message":"a message"}', false],
])(
  'after a %s with %s, a create may have been carried out: %s',
  async (status, body, outcomeUnknown) => {
    expect(await errorWith(reply(body, { status }))).toMatchObject({
      code: 'invalid_response',
      status,
      requestId: undefined,
      outcomeUnknown,
    });
  },
);

test.each([
  [{ message: 'a', cause: { code: 'B', message: 'c' } }, 'The request failed: a: B'],
  [{ message: 'a', cause: new Error('c') }, 'The request failed: a: c'],
  [undefined, 'The request failed'],
])('a fetch that is rejected with %o is a network_error', async (failure, message) => {
  expect(await errorWith(() => Promise.reject(failure))).toMatchObject({
    code: 'network_error',
    message,
  });
});

test.each([
  ['<API key>', problem(403, KEY, { 'X-Request-Id': KEY }, KEY)],
  ['The request failed: <API key>', () => Promise.reject({ message: KEY, request: KEY })],
  [
    `Not from the store: 502 ${'<API key>'.repeat(99)}`.slice(0, 300),
    reply(KEY.repeat(99), { status: 502 }),
  ],
])('the key is hidden, before a text is cut: %s', async (message, answer) => {
  const error = await errorWith(answer);
  expect(error).toMatchObject({ message });
  const shown = inspect([error, clientWith([]).store], { depth: 99, showHidden: true });
  expect(shown).not.toContain('animal-1');
});

test('a text of a server is cut, and cannot forge a line of a log', async () => {
  const text = 'é🐈\u001b[31m\r\n\u202e\u2028\u2029\ud800';
  const shown = 'é🐈\\u{1b}[31m\\u{d}\\u{a}\\u{202e}\\u{2028}\\u{2029}\\u{d800}';
  const answer = problem(409, text, { 'X-Request-Id': '\u009b' }, text.padEnd(5_000_000));
  expect(await errorWith(answer)).toMatchObject({
    code: shown,
    message: shown + ' '.repeat(4096 - text.length),
    requestId: '\\u{9b}',
  });
});

test('a request has headers that a custom fetch can change, and the first options', async () => {
  const fetch = vi.fn(rex);
  const options = { baseUrl: 'https://animal-store.example/v1/', apiKey: KEY, fetch };
  const store = createAnimalStore(options);
  options.baseUrl = 'http://elsewhere.example';
  await store.session('0001').getPet(7n);
  const init = {
    method: 'GET',
    headers: { authorization: `Bearer ${KEY}`, 'x-d1-bookmark': '0001' },
    body: null,
    signal: expect.any(AbortSignal),
    redirect: 'manual',
  };
  expect(fetch.mock.calls).toStrictEqual([['https://animal-store.example/v1/pets/7', init]]);
  // The fetch of a browser throws if it is called as a method of an object.
  expect(fetch.mock.contexts).toEqual([undefined]);
});

test.each(['http://localhost', 'http://127.0.0.1/v1', 'http://[::1]:8787/v1'])(
  'the baseUrl can be %s',
  (baseUrl) => {
    clientWith([], { baseUrl });
  },
);

test.each([
  // Others could read the key.
  'http://localhost.example/v1',
  'http://127.0.0x1',
  ' https://a.example',
  // In a page, relative to its own address.
  'https:v1',
  'https://[',
  'https://me:secret@a.example/v1',
  'https://a.example/v1?secret',
  'https://a.example/v1#secret',
  'https://a.example/v1\n',
])('the baseUrl %j is a TypeError that does not show it', (baseUrl) => {
  const message = 'baseUrl: must be https:, or http: on localhost, no query';
  expect(() => clientWith([], { baseUrl })).toThrow(new TypeError(message));
});

test.each(['', undefined, 'secret\n', 'a secret', 'sécret', 'secret'.padEnd(1_025, '!')])(
  'the apiKey %j is a TypeError that does not show it',
  (apiKey) => {
    const message = 'apiKey: must be 1 to 1,024 visible ASCII characters';
    expect(() => clientWith([], Object({ apiKey }))).toThrow(new TypeError(message));
  },
);
