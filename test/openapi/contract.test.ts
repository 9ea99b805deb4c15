/** The service accepts exactly what the description declares valid. */
import { expect, test } from 'vitest';
import { Name } from '../../src/pets/schemas.ts';
import { description, operations, problems } from '../support/contract.ts';
import { startApp } from '../support/in-process.ts';
import { startStore } from '../support/store.ts';

const sendWithoutD1 = startApp(startStore());

const VALUES = [
  ...['0', '-0', '3.0', '1e2', '1.5', '9223372036854775807', '-9223372036854775808'],
  // Far from the range, because the validator of the description rounds the integers.
  ...['18446744073709551616', '-18446744073709551616', '1e400'],
  ...['null', 'true', '"3"', '[]', '["sold"]', '"available"', '"pending"', '"sold"', '"SOLD"'],
  ...['"placed"', '"approved"', '"delivered"', '"cancelled"', '""', '"x"', '" "', '"a\\n"'],
  ...['"\u200b"', '"\u3164"', '"\u2800"', '"\\u0007"', '"a\u0085"', '"\u200ba\u200b"'],
  ...['"2026-11-20T09:30:00Z"', '"2026-11-20T09:30:00.000Z"', '"2026-11-20T09:30:00.000+01:00"'],
  ...['{}', '{"name":"Rex"}', '{"categoryId":3}'],
];
const writes = operations.filter(({ operation }) => operation.requestBody);
/** The described maximum lengths of texts, in Unicode code points, and one more. */
const LENGTHS = new Set(
  writes
    .flatMap(({ fields }) => Object.values(fields))
    .flatMap(({ maxLength = 0 }) => [maxLength, maxLength + 1]),
);
for (const length of LENGTHS) VALUES.push(`"${'x'.repeat(length)}"`, `"${'🐕'.repeat(length)}"`);
/** The fields of all bodies, each of which is unknown to other operations, and one that no operation knows. */
const FIELDS = new Set([...writes.flatMap(({ fields }) => Object.keys(fields)), 'nmae']);

test.each(writes)('$operationId accepts exactly the described bodies', async (write) => {
  const { method, examplePath, exampleBody, pointer } = write;
  // Of a repeated field, the last one counts.
  const start = JSON.stringify(exampleBody).slice(0, -1);
  const bodies = [...FIELDS].flatMap((field) =>
    VALUES.map((value) => `${start},"${field}":${value}}`),
  );
  for (const body of [...bodies, ...VALUES]) {
    const schema = `${pointer}/requestBody/content/application~1json/schema`;
    const isDescribed = problems(schema, JSON.parse(body)).length === 0;
    const reply = await sendWithoutD1(method, examplePath, body);
    expect(reply.status, `${body} ${reply.text}`).toBe(isDescribed ? 503 : 400);
  }
});

/** Characters beyond U+FFFF that are not visible. A pattern without the flag `u` cannot name them. */
const NOT_IN_PATTERN =
  '^[\u{110bd}\u{110cd}\u{13430}-\u{1343f}\u{13441}\u{13442}\u{16fe4}\u{1bca0}-\u{1bca3}\u{1d159}\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}]$';

test.each(['', 'u'])('the pattern of a name with the flag "%s" is that of the service', (flag) => {
  const { properties } = Object(description.components.schemas?.NewPet);
  const pattern = new RegExp(properties.name.pattern, flag);
  const exceptions = new RegExp(NOT_IN_PATTERN, 'u');
  // The planes 0, 1 and 14: the others have no characters that are not visible.
  const codes = [0, 1, 14].flatMap((plane) =>
    Array.from({ length: 0x10000 }, (_, code) => plane * 0x10000 + code),
  );
  const characters = codes.map((code) => String.fromCodePoint(code));
  const different = characters.filter(
    (each) => each.isWellFormed() && pattern.test(each) !== Name.safeParse(each).success,
  );
  expect(different).toEqual(characters.filter((each) => exceptions.test(each)));
});

const lengths = (character: string) => [255, 256, 257].map((length) => character.repeat(length));
const PRINTABLE = Array.from({ length: 95 }, (_, i) => `a${String.fromCharCode(0x20 + i)}a`);
const KEYS = ['"', '"""', '" "', 'a"', '"a', ',', 'a,b', 'é', '"é"'];
const QUOTED = [1, 253].flatMap((length) => [`"${'a'.repeat(length)}"`, `"${' '.repeat(length)}"`]);
const STARTS = ['first-primary', 'first-unconstrained'];

/** With any other valid part. */
const sendHeader = (header: string, value: string) =>
  sendWithoutD1('POST', '/v1/pets', '{"name":"a","categoryId":1}', { [header]: value });

test.each([
  {
    header: 'Idempotency-Key',
    component: 'IdempotencyKey',
    values: [...KEYS, ...QUOTED, ...lengths('a')],
    rejected: ['""', 'a, b', '"a, b"'],
  },
])('the service accepts exactly the described values of $header', async (row) => {
  for (const value of [...row.values, ...PRINTABLE, ...row.rejected]) {
    const schema = `components/parameters/${row.component}/schema`;
    const isDescribed = problems(schema, value).length === 0;
    // To reject these, a pattern would need look-ahead, which Go's regular expressions lack. The texts name them.
    const isAccepted = isDescribed && !row.rejected.includes(value);
    const reply = await sendHeader(row.header, value);
    expect(reply.status, `${value}: ${reply.text}`).toBe(isAccepted ? 503 : 400);
  }
});

// The primary is at least as new as any state.
test.each([...STARTS, ...PRINTABLE, 'é', 'a'.repeat(300)])(
  'the X-D1-Bookmark %s is accepted, whatever D1 makes of it',
  async (bookmark) => {
    expect((await sendHeader('X-D1-Bookmark', bookmark)).status).toBe(503);
  },
);

// Quotes do not count, although the description counts them.
test.each([
  [255, 503],
  [256, 400],
])('an Idempotency-Key of %i characters in quotes is a %i', async (length, status) => {
  const reply = await sendHeader('Idempotency-Key', `"${'a'.repeat(length)}"`);
  expect(reply.status).toBe(status);
});
