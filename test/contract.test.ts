/** Requests at random: the service accepts exactly those that the description declares valid. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { operations, problems } from './contract.ts';
import { startApp } from './in-process.ts';
import { REPEAT } from './repeat.ts';
import { startStore } from './store.ts';

/** A valid request reaches D1, and is a 503. */
const send = startApp(startStore());

const int64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map(String);
/** Far from the range, because the validator of the description rounds the range. */
const tooLarge = fc.bigInt({ min: 2n ** 64n, max: 2n ** 80n }).map(String);

/** Up to U+FFFF, where the description of a name is exact: see openapi-exact.test.ts. */
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
  '$operation.operationId accepts exactly the bodies that the description declares valid',
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
