/** What an error shows, and what it hides. */
import { inspect } from 'node:util';
import { expect, onTestFinished, test, vi } from 'vitest';
import { createAnimalStore } from '../src/index.ts';
import { type Answer, clientWith, headerOf, itemsOf, KEY, REX, reply, rex } from './fake.ts';

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

test.each([
  { status: 200, body: '<html>', outcomeUnknown: true },
  { status: 200, body: 'null', outcomeUnknown: true },
  { status: 204, body: null, outcomeUnknown: true },
  { status: 302, body: null, outcomeUnknown: true },
  { status: 404, body: '<html>No route</html>', outcomeUnknown: false },
  { status: 404, body: '{"code":7,"message":"a message"}', outcomeUnknown: false },
  { status: 502, body: '<html>Bad gateway</html>', outcomeUnknown: true },
])('a $status with $body is an invalid_response', async ({ status, body, outcomeUnknown }) => {
  const error = await errorWith(reply(body, { status }));
  expect(error).toMatchObject({ code: 'invalid_response', status, outcomeUnknown });
  const { message } = Object(error);
  expect(message).toContain(status);
  expect(message).toContain(body ?? '');
});

test('the reason of a lost connection is in the message', async () => {
  const cause = { code: 'ECONNREFUSED' };
  const error = await errorWith(() => Promise.reject(new TypeError('fetch failed', { cause })));
  const message = 'The request failed: fetch failed: ECONNREFUSED';
  expect(error).toMatchObject({ code: 'network_error', message });
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
  {
    place: 'a page, also where the message is cut',
    answer: reply('x'.repeat(223).concat(KEY), { status: 502 }),
  },
  {
    place: 'an error of fetch',
    answer: () =>
      Promise.reject(Object.assign(new Error(KEY), { request: { headers: { KEY } }, cause: KEY })),
  },
])('a key in $place is hidden', async ({ answer }) => {
  const error = await errorWith(answer);
  const shown = inspect(error, { depth: 99, showHidden: true }) + JSON.stringify(error);
  expect(shown).not.toContain('local_sec');
});

test.each([
  ['an escape sequence', '\u001b[31m', '\\u{1b}[31m'],
  ['a line break', 'a\r\nb', 'a\\u{d}\\u{a}b'],
  ['an override of the direction', '\u202e', '\\u{202e}'],
  ['a line separator', '\u2028', '\\u{2028}'],
])('%s of a server is escaped', async (_, text, shown) => {
  const body = JSON.stringify({ code: text, message: text, status: 409 });
  expect(await errorWith(reply(body, { status: 409 }))).toMatchObject({
    code: shown,
    message: shown,
  });
  expect(await errorWith(() => Promise.reject(new Error(text)))).toMatchObject({
    message: `The request failed: ${shown}`,
  });
});

test('a message of a server is cut', async () => {
  const body = JSON.stringify({ code: 'x', message: 'x'.repeat(5_000_000), status: 409 });
  const error = await errorWith(reply(body, { status: 409 }));
  expect(Object(error).message).toHaveLength(4096);
});

test('options that change later change nothing', async () => {
  const urls: string[] = [];
  const fetch = async (url: string) => {
    urls.push(url);
    return Response.json({ status: 'ok' });
  };
  const options = { baseUrl: 'https://animal-store.example/v1', apiKey: KEY, fetch };
  const store = createAnimalStore(options);
  options.baseUrl = 'http://elsewhere.example';
  await store.getHealth();
  expect(urls).toEqual(['https://animal-store.example/v1/health']);
});

test('another JSON object than that of the operation is an invalid_response', async () => {
  const { store } = clientWith([reply('{"portal":"Sign in"}')], { maxAttempts: 1 });
  const invalid = { code: 'invalid_response', status: 200 };
  await expect(store.getPet(7n)).rejects.toMatchObject(invalid);
  await expect(store.listPets().page()).rejects.toMatchObject(invalid);
  await expect(store.getHealth()).rejects.toMatchObject(invalid);
  const others = clientWith([reply('[{"portal":"Sign in"}]')], { maxAttempts: 1 });
  await expect(itemsOf(others.store.listPets())).rejects.toMatchObject(invalid);
});

test('a create needs no crypto.randomUUID, which a page over http lacks', async () => {
  onTestFinished(() => void vi.unstubAllGlobals());
  vi.stubGlobal('crypto', { getRandomValues: crypto.getRandomValues.bind(crypto) });
  const { store, requests } = clientWith([rex]);
  await store.createPet(REX);
  await store.createPet(REX);
  const [first, second] = headerOf(requests, 'idempotency-key');
  expect(first).toMatch(/^\d+(-\d+){15}$/);
  expect(second).not.toBe(first);
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
