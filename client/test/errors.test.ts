/** What an error shows, and what it hides. */
import { inspect } from 'node:util';
import { afterEach, expect, test, vi } from 'vitest';
import { StoreError } from '../src/index.ts';
import { type Answer, clientWith, REX, reply, rex } from './fake.ts';

const KEY = 'animal-1_local_secret';
/** As JSON may write it. */
const ESCAPED = Array.from(KEY, (character) => {
  const digits = character.charCodeAt(0).toString(16);
  return `\\u00${digits.toUpperCase()}`;
}).join('');

afterEach(() => void vi.unstubAllGlobals());

/** The error of a create with this key, which the answer has. */
async function errorWith(answer: Answer, fetchOption = {}): Promise<StoreError> {
  const { store } = clientWith([answer], { apiKey: KEY, maxAttempts: 1, ...fetchOption });
  return Object(await store.createPet(REX).catch((error: unknown) => error));
}

/** Nothing that a program prints or logs has the key, or most of it. */
function expectNoKey(error: StoreError): void {
  const printed = inspect(error, { depth: 99, showHidden: true });
  const shown = [printed, JSON.stringify(error), error.stack].join(' ');
  expect(shown).not.toMatch(/local_sec|u00/);
}

test.each([
  {
    place: 'the end of what is shown of a page',
    answer: reply(`${'x'.repeat(235)}${KEY}`, { status: 502 }),
    message: 'xxx<API k',
  },
  {
    place: 'the target of a redirect',
    answer: reply('', { status: 307, headers: { Location: `https://a.example/?${KEY}` } }),
    message: 'https://a.example/?<API key>',
  },
  {
    place: 'an escaped text of another server',
    answer: reply(`{"error":"No ${ESCAPED} or ${KEY}.`, { status: 403 }),
    message: '{"error":"No <API key> or <API key>.',
  },
  {
    place: 'no part of an error that does not have it',
    answer: reply('{"code":"no_pet","message":"No \\u0022pet\\u0022."}', { status: 404 }),
    message: 'No "pet".',
    details: { code: 'no_pet' },
  },
  {
    place: 'the fields of an error',
    answer: reply(`{"code":"no_${KEY}","message":"No ${ESCAPED}.","${ESCAPED}":["${KEY}"]}`, {
      status: 403,
      headers: { 'X-Request-Id': `id-${KEY}` },
    }),
    message: 'No <API key>.',
    details: {
      code: 'no_<API key>',
      requestId: 'id-<API key>',
      body: { '<API key>': ['<API key>'] },
    },
  },
])('a key that a server sends back is hidden in $place', async (row) => {
  const error = await errorWith(row.answer);
  expect(error).toMatchObject({ message: expect.stringContaining(row.message), ...row.details });
  expectNoKey(error);
});

test.each([
  { apiKey: 'api_key', code: 'missing_api_key' },
  { apiKey: '_api_key', code: 'missing<API key>' },
])('the key $apiKey leaves the code $code', async ({ apiKey, code }) => {
  const answer = reply('{"code":"missing_api_key","message":"No key."}', { status: 401 });
  const { store } = clientWith([answer], { apiKey });
  await expect(store.getPet(1n)).rejects.toMatchObject({ code });
});

test('the body of an error is parsed once', async () => {
  const parse = vi.spyOn(JSON, 'parse');
  await errorWith(reply(`{"code":"no_pet","message":"No ${ESCAPED}."}`, { status: 404 }));
  expect(parse).toHaveBeenCalledTimes(1);
  parse.mockRestore();
});

test('a key in the data of an animal stays as it is', async () => {
  const { store } = clientWith([rex], { apiKey: 'available' });
  expect(await store.getPet(1n)).toMatchObject({ status: 'available' });
});

const HEADERS = { authorization: `Bearer ${KEY}` };
const throws = () => {
  throw new Error(`odd ${KEY}`);
};

const cyclic = new Error(KEY);
cyclic.cause = cyclic;

/** What `fetch`, and packages around it, reject with. */
const FOREIGN: Record<string, unknown> = {
  'fields that are not copied': Object.assign(new Error('a'), {
    request: new Request('https://a.example', { headers: HEADERS }),
    sent: new Map(Object.entries(HEADERS)),
    [Symbol('sent')]: HEADERS,
    [KEY]: true,
  }),
  'the fields that are copied': Object.assign(new Error(`a ${KEY} ${ESCAPED}`), {
    name: KEY,
    code: KEY,
    syscall: KEY,
  }),
  'its cause': new Error('a', { cause: Object.assign(new Error(KEY), HEADERS) }),
  'a cycle of causes': cyclic,
  'the errors of several addresses': new AggregateError([new Error(KEY)], 'a'),
  'a getter that throws': Object.defineProperty(new Error('a'), 'code', { get: throws }),
  'a text': KEY,
};

test.each(Object.entries(FOREIGN))(
  'an error of fetch with the key in %s becomes a copy without it',
  async (_, foreign) => {
    vi.stubGlobal('fetch', () => Promise.reject(foreign));
    const error = await errorWith(rex, { fetch: undefined });
    expect(error).toMatchObject({ code: 'network_error', cause: expect.any(Error) });
    expectNoKey(error);
  },
);

test('the copy of an error has its texts, and those of its causes', async () => {
  const inner = Object.assign(new Error('b'), { code: 'EPIPE', syscall: 'write' });
  const outer = new TypeError('a', { cause: inner });
  const { cause } = await errorWith(() => Promise.reject(outer));
  expect(cause).toMatchObject({ name: 'TypeError', message: 'a', stack: outer.stack });
  expect(Object(cause).cause).toMatchObject({ message: 'b', code: 'EPIPE', syscall: 'write' });
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
  const details = { status: 404, idempotencyKey: 'mine' };
  const error = new StoreError('pet_not_found', 'No pet.', details);
  const defaults = { name: 'StoreError', attempts: 0, outcomeUnknown: false };
  expect(error).toMatchObject({ ...details, ...defaults });
  expect(inspect(error)).not.toContain('cause');
});
