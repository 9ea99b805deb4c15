import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseInt64, parseJson, REPEATED } from '../../src/http/json.ts';

/** JSON values, with integers as the expected bigint. */
const scalar = fc.oneof(fc.string(), fc.boolean(), fc.constant(null));
const nested = fc.jsonValue({ maxDepth: 4 });
const int64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });

describe('parseJson', () => {
  test('reads everything that JSON.stringify writes, and integers exactly', () => {
    const member = fc.oneof(
      int64.map((value) => [String(value), value] as const),
      scalar.map((value) => [JSON.stringify(value), value] as const),
      fc.oneof(fc.array(nested), fc.dictionary(fc.string(), nested)).map((value) => {
        const text = JSON.stringify(value, null, 2);
        return [text, JSON.parse(text)] as const;
      }),
    );
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.tuple(fc.string(), member), { selector: ([name]) => name }),
        (members) => {
          const text = members.map(([name, [written]]) => `${JSON.stringify(name)} : ${written}`);
          const expected = Object.fromEntries(members.map(([name, [, value]]) => [name, value]));
          expect(parseJson(`{\n${text.join(',\n')}\n}`)).toEqual(expected);
        },
      ),
    );
  });

  describe('accepts and rejects the same texts as JSON.parse:', () => {
    const fragment = fc.constantFrom(
      '{',
      '}',
      '[',
      ']',
      ',',
      ':',
      '"',
      'a',
      '\\',
      '1',
      '-',
      '.',
      'e',
      ' ',
      '"a":',
    );
    const text = fc.array(fragment, { maxLength: 12 }).map((fragments) => fragments.join(''));

    function isJson(candidate: string): boolean {
      try {
        JSON.parse(candidate);
        return true;
      } catch {
        return false;
      }
    }

    test('JSON is parsed', () => {
      fc.assert(
        fc.property(text.filter(isJson), (json) => void parseJson(json)),
        { numRuns: 200 },
      );
    });

    test('other texts are not valid JSON', () => {
      const invalid = text.filter((candidate) => !isJson(candidate));
      fc.assert(
        fc.property(invalid, (candidate) => {
          expect(() => parseJson(candidate)).toThrow('must be valid JSON');
        }),
        { numRuns: 2000 },
      );
    });
  });

  test('marks a repeated member, however its name is escaped', () => {
    expect(parseJson('{"a":1,"b":2,"\\u0061":3}')).toEqual({ a: REPEATED, b: 2n });
    expect(parseJson('{"__proto__":1,"__proto__":2}')).toEqual(
      Object.fromEntries([['__proto__', REPEATED]]),
    );
  });

  test('does not mark members of nested objects', () => {
    expect(parseJson('{"a":{"b":1,"b":2},"b":3}')).toEqual({ a: { b: 2 }, b: 3n });
  });

  test('distinguishes names from values', () => {
    expect(parseJson('{"a":"b","b":":","c":"1","1":1}')).toEqual({ a: 'b', b: ':', c: '1', 1: 1n });
  });

  test('rejects more than 32 levels of nesting', () => {
    expect(() => parseJson(`${'['.repeat(32)}${']'.repeat(32)}`)).not.toThrow();
    expect(() => parseJson(`${'['.repeat(33)}${']'.repeat(33)}`)).toThrow(
      'nested more than 32 levels',
    );
  });
});

describe('parseInt64', () => {
  test('is exact for every notation of every int64', () => {
    fc.assert(
      fc.property(int64, fc.nat(30), fc.nat(30), (value, zeros, shift) => {
        const digits = String(value);
        expect(parseInt64(digits)).toBe(value);
        expect(parseInt64(`${digits}.${'0'.repeat(zeros + 1)}`)).toBe(value);
        expect(parseInt64(`${digits}${'0'.repeat(shift)}e-${shift}`)).toBe(value);
        const sign = value < 0n ? '-' : '';
        const padded = digits.replace('-', '').padStart(shift + 1, '0');
        const point = padded.length - shift;
        expect(
          parseInt64(`${sign}${padded.slice(0, point)}.${padded.slice(point)}0E+${shift}`),
        ).toBe(value);
      }),
    );
  });

  test.each([
    '9223372036854775808',
    '-9223372036854775809',
    '1e19',
    '1e400',
    '1e1000000000',
    `1e${'9'.repeat(400)}`,
  ])('%s is out of range', (source) => expect(parseInt64(source)).toBeUndefined());

  test.each(['1.5', '1e-1', '1e-400', '1.00000000000000000001', '0.1', `1e-${'9'.repeat(400)}`])(
    '%s is not an integer',
    (source) => expect(parseInt64(source)).toBeUndefined(),
  );

  test.each([
    '',
    '-',
    'abc',
    ' 1',
    '1 ',
    '+1',
    '0x10',
    '1_000',
    '٣',
    '1n',
    'Infinity',
    '1e',
    '.5',
    '5.',
  ])('"%s" is not a number', (source) => expect(parseInt64(source)).toBeUndefined());
});
