/** What an error shows, and what it hides. */
import { inspect } from 'node:util';
import { afterEach, expect, test, vi } from 'vitest';
import { isStoreError, StoreError } from '../src/index.ts';
import { type Answer, clientWith, reply, rex } from './fake.ts';

const KEY = 'animal_local_secret';
/** As JSON may write it: with escapes, whose digits may be capital letters, too. */
const ESCAPED = `\\u00${KEY.charCodeAt(0).toString(16)}${KEY.slice(1).replace('_', '\\u005F')}`;

const SENDS_ONCE = { apiKey: KEY, maxAttempts: 1 };

afterEach(() => void vi.unstubAllGlobals());

async function errorOf(call: Promise<unknown>): Promise<StoreError> {
  return Object(await call.catch((error: unknown) => ({ error }))).error;
}

/** The error of a create with this key, which the answer has. */
async function errorWith(answer: Answer): Promise<StoreError> {
  const { store } = clientWith([answer], SENDS_ONCE);
  return errorOf(store.createPet({ name: 'Rex', categoryId: 1n }));
}

/** Nothing that a program prints or logs has the key, or most of it. */
function expectNoKey(error: StoreError): void {
  const printed = inspect(error, { depth: 99, showHidden: true });
  expect([printed, JSON.stringify(error), String(error.stack)].join(' ')).not.toMatch(
    /local_sec|u00/,
  );
}

test.each([
  {
    place: 'an HTML page',
    answer: reply(`<pre>Authorization: Bearer ${KEY}</pre>`, { status: 502 }),
    message: 'Authorization: Bearer <API key>',
  },
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
    place: 'a message and a field of an error',
    answer: reply(`{"code":"denied","message":"No ${KEY}.","sent":{"key":["${KEY}"]},"petId":7}`, {
      status: 403,
    }),
    message: 'No <API key>.',
    details: { body: { sent: { key: ['<API key>'] }, petId: 7n } },
  },
  {
    place: 'what fetch rejects with',
    answer: () => Promise.reject(`sent ${KEY}`),
    message: 'The request failed: sent <API key>',
    details: { cause: { message: 'sent <API key>' } },
  },
  {
    // As undici reports a response that is no HTTP.
    place: 'a field of a cause',
    answer: () => {
      const cause = Object.assign(new Error('Expected HTTP/'), { data: `Bearer ${KEY}` });
      return Promise.reject(new TypeError('fetch failed', { cause }));
    },
    message: 'The request failed: fetch failed: Expected HTTP/',
    details: { cause: { message: 'fetch failed', cause: { message: 'Expected HTTP/' } } },
  },
  {
    place: 'an escaped text of an error',
    answer: reply(`{"code":"denied","message":"No ${ESCAPED}.","sent":{"${ESCAPED}":7}}`, {
      status: 403,
    }),
    message: 'No <API key>.',
    details: { code: 'denied', body: { sent: { '<API key>': 7 } } },
  },
  {
    place: 'an escaped text of another server',
    answer: reply(`{"error":"No ${ESCAPED}.`, { status: 403 }),
    message: '{"error":"No <API key>.',
  },
  {
    place: 'a code',
    answer: reply(`{"code":"no_${KEY}","message":"No."}`, { status: 403 }),
    message: 'No.',
    details: { code: 'no_<API key>', body: { code: 'no_<API key>' } },
  },
  {
    place: 'the id of the request, and other headers',
    answer: reply('{"code":"denied","message":"No."}', {
      status: 403,
      headers: { 'X-Request-Id': `id-${KEY}`, 'X-Sent': KEY },
    }),
    message: 'No.',
    details: { requestId: 'id-<API key>', metadata: { requestId: 'id-<API key>' } },
  },
])(
  'a key that a server sends back is hidden in $place',
  async ({ answer, message, details = {} }) => {
    const error = await errorWith(answer);
    expect(error).toMatchObject({ message: expect.stringContaining(message), ...details });
    expectNoKey(error);
  },
);

test('a short key that is a part of a code or of an id leaves it as it is', async () => {
  const answer = reply('{"code":"missing_api_key","message":"No key."}', {
    status: 401,
    headers: { 'X-Request-Id': 'key-401' },
  });
  const { store } = clientWith([answer], { apiKey: 'key' });
  const failure = { code: 'missing_api_key', message: 'No <API key>.', requestId: 'key-401' };
  await expect(store.getPet(1n)).rejects.toMatchObject(failure);
});

test('a key that is sent back as the address of the next page is not in the error', async () => {
  const page = reply('[{"id":1}]', {
    headers: { Link: `<https://a.example/?${KEY}>; rel="next"` },
  });
  const { store } = clientWith([page], SENDS_ONCE);
  const error = await errorOf(store.listPets().toArray({ max: 9 }));
  expect(error.code).toBe('invalid_response');
  expectNoKey(error);
});

test('a key in the data of an animal stays as it is', async () => {
  const { store } = clientWith([rex], { apiKey: 'Rex' });
  expect(await store.getPet(1n)).toMatchObject({ name: 'Rex' });
});

test('an error of the global fetch that has a lot of bytes, or itself as its cause, is kept', async () => {
  const cause = Object.assign(new Error('lost'), { bytes: new Uint8Array(2 ** 26) });
  cause.cause = cause;
  vi.stubGlobal('fetch', () => Promise.reject(cause));
  const error = await errorOf(clientWith([], { ...SENDS_ONCE, fetch: undefined }).store.getPet(1n));
  // Not toBe, which would print the bytes.
  expect(error.cause === cause).toBe(true);
});

test('an error of the global fetch that has the key is replaced by a copy', async () => {
  const inner = Object.assign(new Error('lost'), { code: 'ECONNRESET', data: `Bearer ${KEY}` });
  vi.stubGlobal('fetch', () => Promise.reject(new TypeError('fetch failed', { cause: inner })));
  const error = await errorOf(clientWith([], { ...SENDS_ONCE, fetch: undefined }).store.getPet(1n));
  expect(error.cause).toMatchObject({ name: 'TypeError', cause: { code: 'ECONNRESET' } });
  expectNoKey(error);
});

test('an error of the global fetch into which nobody can look is replaced by a copy', async () => {
  vi.stubGlobal('fetch', () => Promise.reject(FOREIGN['a proxy']));
  const error = await errorOf(clientWith([], { ...SENDS_ONCE, fetch: undefined }).store.getPet(1n));
  expect(error.code).toBe('network_error');
  expectNoKey(error);
});

const HEADERS = { authorization: `Bearer ${KEY}` };
const throws = () => {
  throw new Error(`odd ${KEY}`);
};
const nested = (depth: number): object => (depth ? { in: nested(depth - 1) } : HEADERS);

/** What packages around `fetch` reject with. */
const FOREIGN: Record<string, unknown> = {
  'a Request': Object.assign(new Error('a'), {
    request: new Request('https://a.example', { headers: HEADERS }),
  }),
  Headers: Object.assign(new Error('a'), { headers: new Headers(HEADERS) }),
  'a Map': Object.assign(new Error('a'), { sent: new Map(Object.entries(HEADERS)) }),
  'a symbol': Object.assign(new Error('a'), { [Symbol('sent')]: HEADERS }),
  'the name of a field': Object.assign(new Error('a'), { [KEY]: true }),
  'deep fields': Object.assign(new Error('a'), nested(9)),
  'its message, name, code and syscall': Object.assign(new Error(`a ${KEY}`), {
    name: KEY,
    code: KEY,
    syscall: KEY,
  }),
  'an escaped message': new Error(`a ${ESCAPED}`),
  'its cause': new Error('a', { cause: Object.assign(new Error(KEY), HEADERS) }),
  'the errors of several addresses': new AggregateError([new Error(KEY)], 'a'),
  'a getter that throws': Object.defineProperty(new Error('a'), 'code', { get: throws }),
  'a proxy': new Proxy(new Error('a'), { get: throws, ownKeys: throws, getPrototypeOf: throws }),
  'a frozen error': Object.freeze(Object.assign(new Error('a'), HEADERS)),
  'a function': Object.assign(() => {}, HEADERS),
  'a text': KEY,
};

test.each(Object.keys(FOREIGN))(
  'an error of a custom fetch with the key in %s becomes a copy without it',
  async (place) => {
    const error = await errorWith(() => Promise.reject(FOREIGN[place]));
    expect(error).toMatchObject({ code: 'network_error', cause: expect.any(Error) });
    expectNoKey(error);
  },
);

test('the copy of an error of a custom fetch has its texts, and those of its causes', async () => {
  const inner = Object.assign(new Error('b'), { code: 'EPIPE', syscall: 'write', errno: -32 });
  const outer = Object.assign(new TypeError('a', { cause: inner }), { options: {} });
  const { cause } = await errorWith(() => Promise.reject(outer));
  expect(cause).not.toBe(outer);
  expect(cause).toMatchObject({ name: 'TypeError', message: 'a' });
  expect(Object(cause).cause).toMatchObject({ message: 'b', code: 'EPIPE', syscall: 'write' });
  expect(Object.keys(Object(cause))).toEqual(['name']);
});

test('a cyclic error of a custom fetch becomes a copy', async () => {
  const cause = new Error('a');
  cause.cause = cause;
  const error = await errorWith(() => Promise.reject(cause));
  expect(error).toMatchObject({ message: 'The request failed: a: a', cause: { message: 'a' } });
  // Four copies, and no more.
  expect(Object(error.cause).cause.cause).toMatchObject({ cause: { message: 'a' } });
  expect(Object(error.cause).cause.cause.cause.cause).toBe(undefined);
});

test('the body of a custom fetch can fail with the key', async () => {
  const failing = { read: () => Promise.reject(FOREIGN['a Request']), cancel: async () => {} };
  const body = { getReader: () => failing };
  const response = { status: 200, headers: new Headers(), body, text: async () => '' };
  expectNoKey(await errorWith(async () => response));
});

test('JSON of an error has what identifies the failure, and ids as text', async () => {
  const body = '{"code":"pet_sold","message":"Sold.","status":409,"petId":9007199254740993}';
  const headers = { 'X-Request-Id': 'id-409' };
  const error = await errorWith(reply(body, { status: 409, headers }));
  expect(JSON.parse(JSON.stringify({ error }))).toEqual({
    error: {
      code: 'pet_sold',
      message: 'Sold.',
      status: 409,
      requestId: 'id-409',
      attempts: 1,
      outcomeUnknown: false,
      petId: '9007199254740993',
    },
  });
});

test('an error prints no headers, and gives each by its name', async () => {
  const error = await errorWith(reply('', { status: 404, headers: { 'X-Other': 'a value' } }));
  expect(inspect(error, { depth: 9 })).not.toContain('a value');
  expect(error.metadata?.headers.get('x-other')).toBe('a value');
});

test('an error without a cause prints none, and nothing of its brand', async () => {
  const error = new StoreError('pet_not_found', 'No pet.');
  expect(inspect(error)).not.toMatch(/cause|Symbol/);
  expect(Object.hasOwn(error, 'cause')).toBe(false);
  expect(new StoreError('aborted', 'Aborted.', { cause: 0 }).cause).toBe(0);
});

test('a StoreError can be made with partial metadata', () => {
  const details = { metadata: { status: 404 }, idempotencyKey: 'mine' };
  const error = new StoreError('pet_not_found', 'No pet.', details);
  expect(error).toMatchObject({ ...details, status: 404, outcomeUnknown: false, attempts: 0 });
  const missing = { requestId: undefined, deprecation: undefined, sunset: undefined };
  expect(error.metadata).toMatchObject({ ...missing, retryAfterSeconds: 0 });
  expect(error.metadata?.headers.get('Link')).toBe(null);
});

test('isStoreError knows the errors of another copy of the package, and no other errors', () => {
  const copy = Object.assign(new Error(), { [Symbol.for('animal-store-client')]: true });
  const named = Object.assign(new Error(), { name: 'StoreError' });
  const error = new StoreError('aborted', 'Aborted.');
  expect([copy, error].map(isStoreError)).toEqual([true, true]);
  expect([named, new Error(), null, undefined].map(isStoreError)).toEqual(Array(4).fill(false));
});
