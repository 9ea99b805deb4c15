/**
 * POST /v1/pets: createPet. Retries with an Idempotency-Key: test/idempotency. Bodies that are no
 * JSON: test/http/body.test.ts.
 */
import { expect, test } from 'vitest';
import { MAX_NAME_LENGTH, NewPet } from '../../src/pets/schemas.ts';
import { sendWithoutD1 } from '../support/in-process.ts';
import { exact, expectError, startFaultyStore } from '../support/store.ts';

const store = startFaultyStore('staging');

/** Each character has two UTF-16 code units. */
const LONGEST = '🐶'.repeat(MAX_NAME_LENGTH);

test.each([
  // JSON and HTML escape these characters.
  ['"\\/<>&', -(2n ** 63n)],
  // A trim would remove the ends.
  [' a\u200b\u2028\ufeff ', 2n ** 63n - 1n],
  // A normalization would make both words one, and a double would round the category.
  ['Ame\u0301lie, nicht Am\u00e9lie', 2n ** 53n + 1n],
  [LONGEST, 0n],
])('the name %j and the category %s are answered and stored exactly', async (name, categoryId) => {
  // With a byte order mark and white space.
  const sent = `\ufeff \r\n{ "name" : ${JSON.stringify(name)} ,\t"categoryId":${categoryId}} \n`;
  const created = await store.createPet(sent);
  expect(created.status).toBe(201);
  expect(created.headers.get('location')).toBe(`${store.baseUrl()}/pets/1`);
  for (const reply of [created, await store.fetch('/v1/pets/1')])
    expect(exact(reply)).toEqual({ id: 1n, name, categoryId });
});

const NOT_INT64 = 'must be an integer from -9223372036854775808 to 9223372036854775807';

// The README shows the other problems, and is tested.
test.each([
  [[], 'body: must be a JSON object'],
  [{ categoryId: 3 }, 'name: is required'],
  [{ name: 'Rex' }, 'categoryId: is required'],
  [{ name: 7, categoryId: 3 }, 'name: must be a string'],
  [{ name: '', categoryId: 3 }, 'name: must not be empty'],
  [{ name: '\u200b\u2800\ufeff', categoryId: 3 }, 'name: must contain a visible character'],
  [{ name: 'a\0b', categoryId: 3 }, 'name: must not contain control characters'],
  [{ name: 'a\ud800', categoryId: 3 }, 'name: must not contain a lone surrogate'],
  [
    { name: `${LONGEST}x`, categoryId: 3 },
    `name: must be at most ${MAX_NAME_LENGTH} characters long`,
  ],
  [{ name: 'Rex', categoryId: '1' }, `categoryId: ${NOT_INT64}, not a string in quotes`],
  [{ name: 'Rex', categoryId: null }, `categoryId: ${NOT_INT64}`],
  [
    { name: 'Rex', categoryId: 3, status: null },
    'status: must not be null: omit it for an animal without a status',
  ],
])('the body %j is a 400: %s', async (body, message) => {
  const reply = await sendWithoutD1('POST', '/v1/pets', JSON.stringify(body));
  expectError(reply, 400, 'invalid_request', message);
});

/** The name of an unknown field is shown so that it cannot be mistaken for a known one. */
test.each([
  ['nmae', 'nmae'],
  ['__proto__', '__proto__'],
  ['', '""'],
  ['\ud800', '\\ud800'],
  ['\ufeffname', '\\ufeffname'],
  ['name ', 'name\\u0020'],
  // The first letter is Cyrillic.
  ['\u0441ategoryId', '\\u0441ategoryId'],
  ['\\ufeffname', '\\u005cufeffname'],
  ['x'.repeat(64), 'x'.repeat(64)],
  ['x'.repeat(65), `${'x'.repeat(64)}…`],
  // An escape is never cut.
  [`${'x'.repeat(58)}🐕`, `${'x'.repeat(58)}\\ud83d…`],
  [`${'x'.repeat(59)}🐕`, `${'x'.repeat(59)}…`],
  [`${'x'.repeat(63)}🐕`, `${'x'.repeat(63)}…`],
])('the unknown field %j is a 400 that shows it as %s', async (field, shown) => {
  const body = `{"name":"Rex","categoryId":3,${JSON.stringify(field)}:1}`;
  const reply = await sendWithoutD1('POST', '/v1/pets', body);
  const known = Object.keys(NewPet.shape).join(', ');
  const message = `${shown}: is not a known field: ${known}`;
  expectError(reply, 400, 'invalid_request', message);
});
