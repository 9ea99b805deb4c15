/** What an error shows, and what it hides. */
import { inspect } from 'node:util';
import { expect, test } from 'vitest';
import { createAnimalStore } from '../src/index.ts';
import { type Answer, clientWith, KEY, REX, reply } from './fake.ts';

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

test('the client does not show its key', () => {
  expect(inspect(clientWith([]).store, { depth: 99, showHidden: true })).not.toContain(KEY);
});

test.each([
  { baseUrl: 'localhost:8787/v1' },
  // Others could read the key.
  { baseUrl: 'http://localhost.example/v1' },
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
