/** The service accepts exactly what the description declares valid. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { PROJECT_ROOT } from '../ops/wrangler.ts';
import { Name } from '../src/pets/schema.ts';
import { description, operations, problems, type Schema } from './contract.ts';
import { startApp } from './in-process.ts';
import { REPEAT } from './repeat.ts';
import { startStore } from './store.ts';

/** A valid request reaches D1, and is a 503. */
const send = startApp(startStore());

const int64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map(String);
/** Far from the range, because the validator of the description rounds the range. */
const tooLarge = fc.bigInt({ min: 2n ** 64n, max: 2n ** 80n }).map(String);

/** Up to U+FFFF, where the description of a name is exact: see below. */
const character = fc
  .nat(0xffff)
  .map((code) => String.fromCharCode(code))
  .filter((text) => text.isWellFormed());
const name = fc.oneof(
  fc.string({ unit: character, maxLength: 20 }),
  fc.string({ unit: fc.constantFrom(' ', '\u200b', '\u3164', '\u2800', 'a', '\u0007') }),
  fc.constantFrom('x'.repeat(255), '犬'.repeat(256), '🐕'.repeat(255), '🐕'.repeat(256)),
);
const status = fc.constantFrom('available', 'sold', 'placed', 'approved', 'SOLD', '');

const text = (value: string) => JSON.stringify(value);
const fraction = fc.double({ noInteger: true, noNaN: true, noDefaultInfinity: true });
const anyJson = fc.oneof(
  ...[int64, tooLarge, fraction.map(String), name.map(text), status.map(text)],
  fc.constantFrom('3.0', '1e2', '-0', '"3"', 'null', 'true', '[]', '{}', '["sold"]'),
);
const FIELDS = {
  name: name.map(text),
  categoryId: int64,
  petId: int64,
  status: status.map(text),
  nmae: anyJson,
};

/** JSON objects with some of the fields, most of them with a value of the right type. */
const body = fc
  .subarray(Object.entries(FIELDS))
  .chain((fields) =>
    fc.tuple(
      ...fields.map(([field, value]) =>
        fc
          .oneof({ weight: 4, arbitrary: value }, { weight: 1, arbitrary: anyJson })
          .map((json) => `"${field}":${json}`),
      ),
    ),
  )
  .map((members) => `{${members.join(',')}}`);

test.each(operations.filter(({ operation }) => operation.requestBody))(
  '$operation.operationId accepts exactly the described bodies',
  async ({ method, path, pointer }) => {
    const schema = [...pointer, 'requestBody', 'content', 'application/json', 'schema'];
    await fc.assert(
      fc.asyncProperty(fc.oneof(body, anyJson), async (json) => {
        const isDescribed = problems(schema, JSON.parse(json)).length === 0;
        const reply = await send(method, path.replace(/\{\w+\}/, '1'), json);
        expect(reply.status, `${json} ${reply.text}`).toBe(isDescribed ? 503 : 400);
      }),
      { numRuns: 300 * REPEAT },
    );
  },
);

const { NewPet } = description.components.schemas;
const { Bookmark, IdempotencyKey } = description.components.parameters;

function matches({ pattern = '', minLength = 0, maxLength = 0 }: Schema, text: string): boolean {
  return new RegExp(pattern).test(text) && text.length >= minLength && text.length <= maxLength;
}

describe('the description of a name', () => {
  const { pattern = '' } = NewPet?.properties?.name ?? {};
  const isAccepted = (name: string) => Name.safeParse(name).success;
  const all = Array.from({ length: 0x110000 }, (_, code) => String.fromCodePoint(code));
  const characters = all.filter((character) => character.isWellFormed());

  /** Characters beyond U+FFFF that are not visible. A pattern without the flag `u` cannot name them. */
  const NOT_IN_PATTERN =
    /^[\u{110bd}\u{110cd}\u{13430}-\u{1343f}\u{13441}\u{13442}\u{16fe4}\u{1bca0}-\u{1bca3}\u{1d159}\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}]$/u;

  test.each([
    ['of one character', '', NOT_IN_PATTERN],
    ['of a letter and a character', 'a', /^(?!)/],
  ])('the description of a name %s is that of the service', (_, start, exceptions) => {
    const accepted = new Set(characters.filter((each) => isAccepted(start + each)));
    const expected = characters.filter((each) => exceptions.test(each));
    for (const flags of ['', 'u']) {
      const expression = new RegExp(pattern, flags);
      const isDescribed = (each: string) => expression.test(start + each);
      expect(characters.filter((each) => isDescribed(each) !== accepted.has(each))).toEqual(
        expected,
      );
    }
  });
});

const printable = fc.string({ unit: 'grapheme-ascii', maxLength: 260 });

const IDEMPOTENCY_KEYS = fc.oneof(
  ...[printable, printable.map((text) => `"${text}"`)],
  fc.string({ unit: fc.constantFrom('a', '"', ',', ' ', 'é'), maxLength: 4 }),
  fc.string({ minLength: 254, maxLength: 258, unit: fc.constantFrom('a', '"') }),
);
const BOOKMARKS = fc.oneof(
  fc.string({ unit: 'grapheme-ascii', maxLength: 8 }),
  fc.string({ unit: fc.constantFrom('0', 'f', '-'), minLength: 255, maxLength: 258 }),
  fc.constantFrom('first-primary', 'first-unconstrained', 'first', 'FIRST-PRIMARY', 'firstly'),
  fc.stringMatching(/^[A-Za-z0-9_.~+/=:-]{1,256}$/),
);

test.each([
  ['Idempotency-Key', IdempotencyKey, IDEMPOTENCY_KEYS],
  ['X-D1-Bookmark', Bookmark, BOOKMARKS],
])('the service accepts exactly the described values of %s', async (header, parameter, values) => {
  await fc.assert(
    fc.asyncProperty(values, async (sent) => {
      const body = '{"name":"a","categoryId":1}';
      const { status, text } = await send('POST', '/v1/pets', body, { [header]: sent });
      // HTTP removes spaces around a value.
      const isDescribed = matches(parameter?.schema ?? {}, sent.trim());
      expect(status, `${sent}: ${text}`).toBe(isDescribed ? 503 : 400);
    }),
    { numRuns: 500 * REPEAT },
  );
});

test('the description has the exact range of every int64', () => {
  const text = readFileSync(join(PROJECT_ROOT, 'public/v1/openapi.json'), 'utf8');
  const count = (part: RegExp) => [...text.matchAll(part)].length;
  const total = count(/"format": "int64"/g);
  expect(total).toBeGreaterThan(5);
  expect(count(/"minimum": -9223372036854775808,/g)).toBe(total);
  expect(count(/"maximum": 9223372036854775807\b/g)).toBe(total);
});
