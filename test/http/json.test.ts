import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseInt64, parseJson, REPEATED } from '../../src/http/json.ts';

const int64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });

describe('parseJson', () => {
  test('reads everything that JSON.stringify writes, and integers exactly', () => {
    const value = fc.oneof(fc.string(), fc.boolean(), fc.constant(null), fc.object());
    const member = fc.oneof(
      int64.map((integer) => ({ text: `${integer}`, value: integer })),
      value.map((any) => ({ text: JSON.stringify(any, null, 2), value: any })),
    );
    const members = fc.uniqueArray(fc.tuple(fc.string(), member), { selector: ([name]) => name });
    fc.assert(
      fc.property(members, (all) => {
        const text = all.map(([name, { text }]) => `${JSON.stringify(name)} : ${text}`).join(',\n');
        const expected = Object.fromEntries(all.map(([name, { value }]) => [name, value]));
        const plain = (object: unknown) =>
          JSON.stringify(object, (_, each) => (typeof each === 'bigint' ? `${each}n` : each));
        expect(plain(parseJson(`{\n${text}\n}`))).toBe(plain(expected));
      }),
    );
  });

  test('marks a repeated member, however its name is escaped', () => {
    expect(parseJson('{"a":1,"b":2,"\\u0061":3}')).toEqual({ a: REPEATED, b: 2n });
    expect(parseJson('{"__proto__":1,"__proto__":2}')).toEqual(
      Object.fromEntries([['__proto__', REPEATED]]),
    );
  });

  test('distinguishes names from values, and from members of nested objects', () => {
    expect(parseJson('{"a":"b","b":":","c":"1","1":1}')).toEqual({ a: 'b', b: ':', c: '1', 1: 1n });
    expect(parseJson('{"a":{"b":1,"b":2},"b":3,"c":1.5}')).toEqual({ a: { b: 2 }, b: 3n, c: 1.5 });
  });

  test('accepts 32 levels of nesting, not 33', () => {
    expect(parseJson(`${'['.repeat(32)}${']'.repeat(32)}`)).toBeInstanceOf(Array);
    expect(() => parseJson(`${'['.repeat(33)}${']'.repeat(33)}`)).toThrow(
      'The body must not be nested more than 32 levels deep.',
    );
  });
});

describe('parseInt64', () => {
  test('is exact for every notation of every int64', () => {
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
});
