/** The service accepts exactly what the description declares valid. */
import { expect, test } from 'vitest';
import { Name } from '../../src/pets/schemas.ts';
import { description, operations, problems } from '../support/contract.ts';
import { sendWithoutD1 } from '../support/in-process.ts';

/** JSON values, each of which some field accepts, and another rejects. */
const VALUES = [
  ...['0', '-0', '3.0', '1e2', '1.5', '9223372036854775807', '-9223372036854775808'],
  // Far from the range, because the validator of the description rounds the integers.
  ...['18446744073709551616', '-18446744073709551616', '1e400'],
  ...['null', 'true', '"3"', '[]', '["sold"]', '{}', '{"name":"Rex"}', '{"categoryId":3}'],
  ...['"available"', '"pending"', '"sold"', '"SOLD"', '"placed"', '"delivered"', '"cancelled"'],
  ...['""', '"x"', '" "', '"a\\n"', '"\u200b"', '"\u3164"', '"\\u0007"', '"a\u0085"'],
  ...[255, 256].flatMap((length) => [`"${'x'.repeat(length)}"`, `"${'🐕'.repeat(length)}"`]),
];
/**
 * The fields of all bodies, each of which is unknown to other operations, and one that no operation
 * knows.
 */
const FIELDS = ['name', 'categoryId', 'status', 'petId', 'nmae'];

test.each(operations.filter(({ exampleBody }) => exampleBody))(
  '$operationId accepts exactly the described bodies',
  async ({ method, path, exampleBody, pointer }) => {
    // Of a repeated field, the last one counts.
    const start = JSON.stringify(exampleBody).slice(0, -1);
    const bodies = FIELDS.flatMap((field) =>
      VALUES.map((value) => `${start},"${field}":${value}}`),
    );
    for (const body of [...bodies, ...VALUES]) {
      const schema = `${pointer}/requestBody/content/application~1json/schema`;
      const isDescribed = problems(schema, JSON.parse(body)).length === 0;
      const reply = await sendWithoutD1(method, path.replace(/\{\w+\}/, '1'), body);
      // An accepted request reaches D1, which is not there.
      expect(reply.status, `${body} ${reply.text}`).toBe(isDescribed ? 503 : 400);
    }
  },
);

/**
 * Characters beyond U+FFFF that are not visible. A pattern without the flag `u` cannot name them.
 */
const NOT_IN_PATTERN =
  /^[\u{110bd}\u{110cd}\u{13430}-\u{1343f}\u{13441}\u{13442}\u{16fe4}\u{1bca0}-\u{1bca3}\u{1d159}\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}]$/u;

test.each(['', 'u'])('the pattern of a name with the flag "%s" is that of the service', (flag) => {
  const pattern = new RegExp(description.components.schemas.NewPet.properties.name.pattern, flag);
  // The planes 0, 1 and 14: the others have no characters that are not visible.
  const characters = [0, 1, 14].flatMap((plane) =>
    Array.from({ length: 0x10000 }, (_, code) => String.fromCodePoint(plane * 0x10000 + code)),
  );
  const different = characters.filter(
    (each) => each.isWellFormed() && pattern.test(each) !== Name.safeParse(each).success,
  );
  expect(different).toEqual(characters.filter((each) => NOT_IN_PATTERN.test(each)));
});

const PRINTABLE = Array.from({ length: 95 }, (_, i) => `a${String.fromCharCode(0x20 + i)}a`);
const LENGTHS = [255, 256, 257].map((length) => 'a'.repeat(length));
/** The quotes do not count, although the description counts them. */
const QUOTED = `"${'a'.repeat(255)}"`;

// To reject the values of `rejected`, a pattern would need look-ahead, which Go's regular
// expressions lack. The texts name them.
test.each([
  {
    method: 'POST',
    sent: '{"name":"a","categoryId":1}',
    header: 'Idempotency-Key',
    component: 'IdempotencyKey',
    rejected: ['""', 'a, b', '"a, b"'],
    values: ['"', '"""', '" "', 'a"', '"a', ',', 'a,b', 'é', '"é"', QUOTED, `"a${QUOTED.slice(1)}`],
  },
  {
    method: 'GET',
    header: 'X-D1-Bookmark',
    component: 'Bookmark',
    rejected: ['first', 'FIRST-PRIMARY', 'first-primary2'],
    values: ['', 'first-primary', 'first-unconstrained', 'é', 'a'],
  },
])('the service accepts exactly the described values of $header', async (each) => {
  const schema = `components/parameters/${each.component}/schema`;
  for (const value of [...each.rejected, ...each.values, ...LENGTHS, ...PRINTABLE]) {
    const isDescribed = problems(schema, value).length === 0;
    const headers = { [each.header]: value };
    const reply = await sendWithoutD1(each.method, '/v1/pets', each.sent, headers);
    const isAccepted = isDescribed ? !each.rejected.includes(value) : value === QUOTED;
    expect(reply.status, `${value}: ${reply.text}`).toBe(isAccepted ? 503 : 400);
  }
});
