import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseInt64 } from '../../src/http/int64.ts';
import { parseBody } from '../../src/http/json.ts';

const int64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });

test('a body may be everything that JSON.stringify writes, with exact integers', () => {
  const value = fc.oneof(fc.string(), fc.boolean(), fc.constant(null));
  const member = fc.oneof(
    int64.map((integer) => ({ text: `${integer}`, value: integer })),
    value.map((any) => ({ text: JSON.stringify(any, null, 2), value: any })),
  );
  const members = fc.uniqueArray(fc.tuple(fc.string(), member), {
    selector: ([name]) => name,
    maxLength: 50,
  });
  fc.assert(
    fc.property(members, (all) => {
      const text = all.map(([name, { text }]) => `${JSON.stringify(name)} : ${text}`).join(',\n');
      const expected = Object.fromEntries(all.map(([name, { value }]) => [name, value]));
      const plain = (object: unknown) =>
        JSON.stringify(object, (_, each) => (typeof each === 'bigint' ? `${each}n` : each));
      expect(plain(parseBody(`{\n${text}\n}`))).toBe(plain(expected));
    }),
  );
});

test('of repeated members the last counts, however its name is escaped', () => {
  expect(parseBody('{"a":1,"b":2,"\\u0061":3}')).toEqual({ a: 3n, b: 2n });
  expect(parseBody('{"__proto__":1,"__proto__":2}')).toEqual(
    Object.fromEntries([['__proto__', 2n]]),
  );
});

test('a number that is not an int64 stays a number', () => {
  expect(parseBody('{"a":1.5,"b":1e400,"c":[9007199254740993]}')).toEqual({
    a: 1.5,
    b: Infinity,
    c: [9007199254740993n],
  });
});

test('a body may have 100 values, itself among them, and not 101', () => {
  const textOf = (count: number) =>
    JSON.stringify(Object.fromEntries(Array.from({ length: count }, (_, i) => [`f${i}`, i])));
  expect(parseBody(textOf(99))).toMatchObject({ f98: 98n });
  expect(() => parseBody(textOf(100))).toThrow('The body must have at most 100 values.');
});

test('a body that is nested too deeply for the parser is invalid', () => {
  expect(() => parseBody('['.repeat(200_000) + ']'.repeat(200_000))).toThrow(
    'The body must be valid JSON.',
  );
});

test('every notation of every int64 is exact', () => {
  fc.assert(
    fc.property(int64, fc.nat(30), (value, shift) => {
      const zeros = '0'.repeat(shift);
      const [sign, digits] = value < 0n ? ['-', `${-value}`] : ['', `${value}`];
      const padded = digits.padStart(shift + 1, '0');
      const point = padded.length - shift;
      const notations = [
        `${value}`,
        `${value}.0${zeros}`,
        `${value}${zeros}e-${shift}`,
        `${sign}${padded.slice(0, point)}.${padded.slice(point)}0E+${shift}`,
      ];
      expect(notations.map(parseInt64)).toEqual(notations.map(() => value));
    }),
  );
});

test.each([
  ...['9223372036854775808', '-9223372036854775809', '1e19', '1e400', '1e1000000000'],
  ...['1.5', '1e-1', '1e-400', '1.00000000000000000001', `1e-${'9'.repeat(400)}`],
  ...['', '-', 'abc', ' 1', '1 ', '+1', '0x10', '1_000', '٣', '1n', 'Infinity', '1e', '.5', '5.'],
])('%j is not an int64', (source) => expect(parseInt64(source)).toBeUndefined());
