/** What an error shows, and what it hides. */
import { inspect } from 'node:util';
import { expect, onTestFinished, test, vi } from 'vitest';
import { createAnimalStore } from '../src/index.ts';
import { type Answer, CALLS, clientWith, KEY, problem, REX, reply, rex } from './fake.ts';

async function errorWith(answer: Answer) {
  const { store } = clientWith([answer], { maxAttempts: 1 });
  return store.createPet(REX).catch((error: unknown) => error);
}

test('an error has the code, the message and the request id of the store', async () => {
  expect(await errorWith(problem(409, 'new_code', { 'X-Request-Id': 'id-1' }))).toMatchObject({
    name: 'StoreError',
    code: 'new_code',
    message: 'a message',
    status: 409,
    requestId: 'id-1',
    outcomeUnknown: false,
    idempotencyKey: undefined,
  });
});

test.each(['<html>', '{"portal":"Sign in"}', '[{"id":"7"}]', '{"code":"a","message":"b"}'])(
  'a 200 with %s is an invalid_response to every call',
  async (body) => {
    for (const call of Object.values(CALLS)) {
      const { store } = clientWith([reply(body)]);
      const message = `Not from the store: 200 ${body}`;
      await expect(call(store)).rejects.toMatchObject({ code: 'invalid_response', message });
    }
  },
);

test.each([
  [204, null, true],
  [302, null, true],
  [404, '{"id":1}', false],
  [404, '{"code":"a"}', false],
  [404, '{"code":7,"message":"a message"}', false],
])(
  'after a %s with %s, a create may have been carried out: %s',
  async (status, body, outcomeUnknown) => {
    const error = { code: 'invalid_response', status, outcomeUnknown };
    expect(await errorWith(reply(body, { status }))).toMatchObject(error);
  },
);

test.each([
  [{ code: 'ECONNRESET' }, 'The request failed: fetch failed: ECONNRESET'],
  [new Error('why'), 'The request failed: fetch failed: why'],
  [undefined, 'The request failed: fetch failed'],
])('a cause of an error of fetch is in the message: %o', async (cause, message) => {
  const error = await errorWith(() => Promise.reject(new TypeError('fetch failed', { cause })));
  expect(error).toMatchObject({ code: 'network_error', message });
});

test.each([
  [
    'an error of the store',
    reply(`{"code":"no_${KEY}","message":"No ${KEY.replace('_', '\\u005f')}."}`, {
      status: 403,
      headers: { 'X-Request-Id': `id-${KEY}` },
    }),
  ],
  ['a page, also where it is cut', reply(KEY.repeat(99), { status: 502 })],
  [
    'an error of fetch',
    () => Promise.reject(Object.assign(new Error(KEY), { request: KEY, cause: KEY })),
  ],
])('a key in %s is hidden', async (_, answer) => {
  const error = await errorWith(answer);
  const shown = inspect(error, { depth: 99, showHidden: true }) + JSON.stringify(error);
  expect(shown).not.toContain('animal-1');
});

test('a text of a server is cut, and cannot forge a line of a log', async () => {
  const text = '\u001b[31m\r\n\u202e\u2028\ud800';
  const shown = '\\u{1b}[31m\\u{d}\\u{a}\\u{202e}\\u{2028}\\u{d800}';
  const answer = reply(JSON.stringify({ code: text, message: text.padEnd(5_000_000) }), {
    status: 409,
    headers: { 'X-Request-Id': '\u009b' },
  });
  expect(await errorWith(answer)).toMatchObject({
    code: shown,
    message: shown + ' '.repeat(4096 - text.length),
    requestId: '\\u{9b}',
  });
});

test('options that change later change nothing', async () => {
  const fetch = vi.fn(async () => Response.json({ status: 'ok' }));
  const options = { baseUrl: 'https://animal-store.example/v1/', apiKey: KEY, fetch };
  const store = createAnimalStore(options);
  options.baseUrl = 'http://elsewhere.example';
  await store.getHealth();
  const url = 'https://animal-store.example/v1/health';
  expect(fetch).toHaveBeenCalledWith(url, expect.anything());
});

test('a create needs no crypto.randomUUID, which a page over http lacks', async () => {
  onTestFinished(() => void vi.unstubAllGlobals());
  vi.stubGlobal('crypto', { getRandomValues: crypto.getRandomValues.bind(crypto) });
  expect(await clientWith([rex]).store.createPet(REX)).toMatchObject({ id: 1n });
});

test('the client does not show its key', () => {
  expect(inspect(clientWith([]).store, { depth: 99, showHidden: true })).not.toContain(KEY);
});

test.each([
  // Others could read the key.
  ['baseUrl', 'http://localhost.example/v1'],
  // In a page, relative to its own address.
  ['baseUrl', 'https:v1'],
  ['baseUrl', 'https://['],
  ['baseUrl', 'https://me:secret@a.example/v1'],
  ['baseUrl', 'https://a.example/v1?secret'],
  ['apiKey', ''],
  ['apiKey', undefined],
  ['apiKey', 'secret\n'],
  ['apiKey', 'secret'.repeat(171)],
])('an invalid %s is a TypeError that does not show it: %j', (name, value) => {
  const create = () => clientWith([], { [name]: value });
  expect(create).toThrow(new RegExp(`^${name}: must`));
  expect(create).not.toThrow('secret');
});
