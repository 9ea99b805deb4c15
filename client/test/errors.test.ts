/** What an error shows, and what it hides. */
import { inspect } from 'node:util';
import { expect, test } from 'vitest';
import { StoreError } from '../src/index.ts';
import { type Answer, clientWith, REX, reply, rex } from './fake.ts';

const KEY = 'animal-1_local_secret';
/** The same in JSON, where any character can be written as an escape. */
const ESCAPED = KEY.replace(/./g, (each) => `\\u00${each.charCodeAt(0).toString(16)}`);

/** The error of a create with this key, which the answer has. */
async function errorWith(answer: Answer): Promise<StoreError> {
  const { store } = clientWith([answer], { apiKey: KEY, maxAttempts: 1 });
  return Object(await store.createPet(REX).catch((error: unknown) => error));
}

/** Nothing that a program prints or logs has the key, or most of it. */
function expectNoKey(error: StoreError) {
  const printed = inspect(error, { depth: 99, showHidden: true });
  const shown = [printed, JSON.stringify(error), error.stack].join(' ');
  expect(shown).not.toContain('local_sec');
  expect(shown).not.toContain('\\u0063');
}

test.each([
  {
    // The key is hidden before the message is cut.
    place: 'the target of a redirect, and the end of what is shown of its page',
    answer: reply('x'.repeat(249).concat(KEY), {
      status: 307,
      headers: { Location: `/?${KEY}` },
    }),
    shown: {
      message: 'Not a response of the store: 307 /?<API key> '.padEnd(294, 'x').concat('<API k'),
    },
  },
  {
    place: 'the fields of an error, also with escapes',
    answer: reply(`{"code":"no_${KEY}","message":"No ${ESCAPED}.","${KEY}":["${ESCAPED}"]}`, {
      status: 403,
      headers: { 'X-Request-Id': `id-${KEY}` },
    }),
    shown: {
      code: 'no_<API key>',
      message: 'No <API key>.',
      requestId: 'id-<API key>',
      body: { '<API key>': ['<API key>'] },
    },
  },
  {
    place: 'what is shown of a text that is not JSON, with escapes',
    answer: reply(`{"message":"${ESCAPED}`, { status: 400 }),
    shown: { message: expect.stringContaining('{"message":"<API key>') },
  },
])('a key that a server sends back is hidden in $place', async ({ answer, shown }) => {
  const error = await errorWith(answer);
  expect(error).toMatchObject(shown);
  expectNoKey(error);
});

test('a key of any printable characters is hidden, and nothing else', async () => {
  const apiKey = '$^*+?.()[]{}|/-=';
  const answer = reply(`{"code":"a","message":"No ${apiKey}, ${KEY}."}`, { status: 403 });
  const { store } = clientWith([answer], { apiKey });
  await expect(store.getPet(1n)).rejects.toMatchObject({ message: `No <API key>, ${KEY}.` });
});

test.each([
  { apiKey: 'api_key', code: 'missing_api_key' },
  { apiKey: '_api_key', code: 'missing<API key>' },
])('the key $apiKey leaves the code $code', async ({ apiKey, code }) => {
  const answer = reply('{"code":"missing_api_key","message":"No key."}', { status: 401 });
  const { store } = clientWith([answer], { apiKey });
  await expect(store.getPet(1n)).rejects.toMatchObject({ code });
});

test('a key in the data of an animal stays as it is', async () => {
  const { store } = clientWith([rex], { apiKey: 'available' });
  expect(await store.getPet(1n)).toMatchObject({ status: 'available' });
});

const cyclic = new Error(KEY);
cyclic.cause = cyclic;

/** An error with a getter that throws. */
class Odd extends Error {
  get code() {
    throw new Error(KEY);
  }
}

// What `fetch`, and packages around it, reject with.
test.each([
  [
    'fields that are not copied',
    Object.assign(new Error('a'), { request: { key: KEY }, [KEY]: 1 }),
  ],
  ['a cycle of causes', cyclic],
  ['a getter that throws', new Odd('a')],
  ['a text', KEY],
])('an error of fetch with the key in %s becomes a copy without it', async (_, foreign) => {
  const error = await errorWith(() => Promise.reject(foreign));
  expect(error).toMatchObject({ code: 'network_error', cause: expect.any(Error) });
  expectNoKey(error);
});

test('the copy of an error has its texts and those of its cause, without the key', async () => {
  const inner = Object.assign(new Error('b'), { code: KEY, syscall: KEY });
  const outer = Object.assign(new Error(KEY, { cause: inner }), { name: KEY });
  const { cause } = await errorWith(() => Promise.reject(outer));
  const hidden = '<API key>';
  const stack = outer.stack?.replaceAll(KEY, hidden);
  expect(cause).toMatchObject({ name: hidden, message: hidden, stack });
  expect(Object(cause).cause).toMatchObject({ message: 'b', code: hidden, syscall: hidden });
});

test('JSON of an error has what identifies the failure, without its body', async () => {
  const body = '{"code":"rate_limited","message":"Later.","status":429,"petId":7}';
  const headers = { 'X-Request-Id': 'id-429', 'Retry-After': '9' };
  const error = await errorWith(reply(body, { status: 429, headers }));
  expect(JSON.parse(JSON.stringify({ error }))).toEqual({
    error: {
      code: 'rate_limited',
      message: 'Later.',
      status: 429,
      requestId: 'id-429',
      retryAfterSeconds: 9,
      attempts: 1,
      outcomeUnknown: false,
    },
  });
});

test('a program can make an error, without a cause that would be printed', () => {
  const error = new StoreError('pet_not_found', 'No pet.', { status: 404 });
  const defaults = { name: 'StoreError', attempts: 0, outcomeUnknown: false };
  expect(error).toMatchObject({ status: 404, ...defaults });
  expect(inspect(error)).not.toContain('cause');
});
