/** What an error shows, and what it hides. */
import { inspect } from 'node:util';
import { expect, onTestFinished, test, vi } from 'vitest';
import { createAnimalStore } from '../src/index.ts';
import { type Answer, CALLS, clientWith, KEY, lost, REX, reply, rex } from './fake.ts';

async function errorWith(answer: Answer) {
  const { store } = clientWith([answer], { maxAttempts: 1 });
  return store.createPet(REX).catch((error: unknown) => error);
}

test('an error has the code, the message and the request id of the store', async () => {
  const body = '{"code":"new_code","message":"New.","status":409}';
  const answer = reply(body, { status: 409, headers: { 'X-Request-Id': 'id-1' } });
  expect(await errorWith(answer)).toMatchObject({
    name: 'StoreError',
    code: 'new_code',
    message: 'New.',
    status: 409,
    requestId: 'id-1',
    outcomeUnknown: false,
    idempotencyKey: undefined,
  });
});

test.each(['<html>', 'null', '{"portal":"Sign in"}', '[{"portal":"Sign in"}]'])(
  'a 200 with %s is an invalid_response to every call',
  async (body) => {
    for (const call of Object.values(CALLS)) {
      const { store } = clientWith([reply(body)]);
      const message = `Not a response of the store: 200 ${body}`;
      await expect(call(store)).rejects.toMatchObject({ code: 'invalid_response', message });
    }
  },
);

test.each([
  { status: 200, body: 'null', outcomeUnknown: true },
  { status: 204, body: null, outcomeUnknown: true },
  { status: 302, body: null, outcomeUnknown: true },
  { status: 404, body: '<html>No route</html>', outcomeUnknown: false },
  { status: 404, body: '{"code":7,"message":"a message"}', outcomeUnknown: false },
  { status: 502, body: '<html>Bad gateway</html>', outcomeUnknown: true },
])(
  'after a $status with $body, a create may have been carried out: $outcomeUnknown',
  async (row) => {
    const error = await errorWith(reply(row.body, { status: row.status }));
    expect(error).toMatchObject({
      code: 'invalid_response',
      status: row.status,
      outcomeUnknown: row.outcomeUnknown,
    });
  },
);

test('the reason of a lost connection is in the message', async () => {
  const message = 'The request failed: fetch failed: ECONNRESET';
  expect(await errorWith(lost)).toMatchObject({ code: 'network_error', message });
});

const escaped = KEY.replace(/./g, (each) => `\\u00${each.charCodeAt(0).toString(16)}`);

test.each([
  {
    place: 'an error of the store',
    answer: reply(`{"code":"no_${KEY}","message":"No ${escaped}."}`, {
      status: 403,
      headers: { 'X-Request-Id': `id-${KEY}` },
    }),
  },
  { place: 'a page, also where it is cut', answer: reply(KEY.repeat(99), { status: 502 }) },
  {
    place: 'an error of fetch',
    answer: () =>
      Promise.reject(Object.assign(new Error(KEY), { request: { headers: { KEY } }, cause: KEY })),
  },
])('a key in $place is hidden', async ({ answer }) => {
  const error = await errorWith(answer);
  const shown = inspect(error, { depth: 99, showHidden: true }) + JSON.stringify(error);
  expect(shown).not.toContain('animal-1');
});

test('a text of a server cannot forge a line of a log', async () => {
  const text = '\u001b[31m\r\n\u202e\u2028\ud800';
  const shown = '\\u{1b}[31m\\u{d}\\u{a}\\u{202e}\\u{2028}\\u{d800}';
  const answer = reply(JSON.stringify({ code: text, message: text }), {
    status: 409,
    headers: { 'X-Request-Id': '\u009b' },
  });
  const safe = { code: shown, message: shown, requestId: '\\u{9b}' };
  expect(await errorWith(answer)).toMatchObject(safe);
});

test('a message of a server is cut', async () => {
  const body = JSON.stringify({ code: 'x', message: 'x'.repeat(5_000_000) });
  const { message } = Object(await errorWith(reply(body, { status: 409 })));
  expect(message).toHaveLength(4096);
});

test('options that change later change nothing', async () => {
  const fetch = vi.fn(async () => Response.json({ status: 'ok' }));
  const options = { baseUrl: 'https://animal-store.example/v1', apiKey: KEY, fetch };
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
  { baseUrl: 'localhost:8787/v1' },
  // Others could read the key.
  { baseUrl: 'http://localhost.example/v1' },
  { baseUrl: 'https://[' },
  { baseUrl: 'https://me:secret@a.example/v1' },
  { baseUrl: 'https://a.example/v1?secret' },
  { apiKey: '' },
  { apiKey: undefined },
  { apiKey: 'secret\n' },
  { apiKey: 'secret'.repeat(171) },
])('an invalid option is a TypeError that does not show it: %o', (option) => {
  const valid = { baseUrl: 'https://animal-store.example/v1', apiKey: 'key' };
  const [name = ''] = Object.keys(option);
  const create = () => createAnimalStore(Object({ ...valid, ...option }));
  expect(create).toThrow(new RegExp(`^${name}: must`));
  expect(create).not.toThrow('secret');
});
