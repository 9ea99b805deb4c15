/** What an error shows, and what it hides. */
import { inspect } from 'node:util';
import { expect, test } from 'vitest';
import { isStoreError, StoreError } from '../../client/src/index.ts';
import { type Answer, clientWith, reply, rex } from './fake.ts';

const KEY = 'animal_local_secret';

/** The error of a create with this key, which the answer has. */
async function errorWith(answer: Answer): Promise<StoreError> {
  const { store } = clientWith([answer], { apiKey: KEY, maxAttempts: 1 });
  const call = store.createPet({ name: 'Rex', categoryId: 1n });
  return Object(await call.catch((error: unknown) => ({ error }))).error;
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
    details: { cause: new Error('The request failed: sent <API key>') },
  },
  {
    // As undici reports a response that is no HTTP.
    place: 'a field of a cause',
    answer: () => {
      const cause = Object.assign(new Error('Expected HTTP/'), { data: `Bearer ${KEY}` });
      return Promise.reject(new TypeError('fetch failed', { cause }));
    },
    message: 'The request failed: fetch failed: Expected HTTP/',
    details: { cause: new Error('The request failed: fetch failed: Expected HTTP/') },
  },
])(
  'a key that a server sends back is hidden in $place',
  async ({ answer, message, details = {} }) => {
    const error = await errorWith(answer);
    expect(error).toMatchObject({ message: expect.stringContaining(message), ...details });
    const { cause, body, stack } = error;
    expect(inspect([error.message, cause, body, stack], { depth: 9 })).not.toContain('local_sec');
  },
);

test('a key that is a part of a code leaves the code as it is', async () => {
  const answer = reply('{"code":"missing_api_key","message":"No key."}', { status: 401 });
  const { store } = clientWith([answer], { apiKey: 'key' });
  const failure = { code: 'missing_api_key', message: 'No <API key>.' };
  await expect(store.getPet(1n)).rejects.toMatchObject(failure);
});

test('a key in the data of an animal stays as it is', async () => {
  const { store } = clientWith([rex], { apiKey: 'Rex' });
  expect(await store.getPet(1n)).toMatchObject({ name: 'Rex' });
});

test('an error of fetch that has a lot of bytes, or itself as its cause, is kept', async () => {
  const cause = Object.assign(new Error('lost'), { bytes: new Uint8Array(2 ** 26) });
  cause.cause = cause;
  const error = await errorWith(() => Promise.reject(cause));
  expect(error.cause).toBe(cause);
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
