import { expect, test } from 'vitest';
import { parseInt64 } from '../../src/exact-json.ts';
import { decimal } from '../../src/http/int64.ts';
import { invalidJson, MAX_VALUES, parseBody } from '../../src/http/json.ts';
import { invalidRequest } from '../../src/http/problems.ts';

test('a body may have MAX_VALUES, itself among them, and not one more', () => {
  const zeros = (count: number) => `[${Array(count).fill(0)}]`;
  expect(parseBody(zeros(MAX_VALUES - 1))).toHaveLength(MAX_VALUES - 1);
  const error = invalidRequest(['body: must have at most 100 values']);
  expect(() => parseBody(zeros(MAX_VALUES))).toThrow(error);
});

test('a body that is nested too deeply for the parser is valid JSON, and rejected', () => {
  const start = '['.repeat(200_000);
  const error = invalidRequest(['body: is nested too deeply or has too many values']);
  expect(() => parseBody(start + ']'.repeat(200_000))).toThrow(error);
  expect(() => parseBody(start)).toThrow(invalidJson('Unexpected end of JSON input'));
});

test.each([
  ['-9223372036854775808', -(2n ** 63n)],
  ['9223372036854775807.000', 2n ** 63n - 1n],
  ['9223372036854775807000e-3', 2n ** 63n - 1n],
  ['-0.009223372036854775808E+21', -(2n ** 63n)],
  ['9.007199254740993e15', 2n ** 53n + 1n],
  ['12.50e1', 125n],
  ['-0.0e400', 0n],
])('%s is the int64 %i', (source, value) => expect(parseInt64(source)).toBe(value));

test.each([
  ...['9223372036854775808', '-9223372036854775809', '1e19', '1e400', '1e1000000000'],
  ...['1.5', '1e-1', '1e-400', '1.00000000000000000001', `1e-${'9'.repeat(400)}`],
  ...['', '-', ' 1', '1 ', '+1', '0x10', '٣', 'Infinity', '1e', '.5', '5.'],
])('"%s" is not an int64 in JSON', (source) => expect(parseInt64(source)).toBeUndefined());

test.each([
  ['3', 3],
  ['3.0', 3],
  ['0', 0],
  ['-0.5', -0.5],
  ['9007199254740991', 2 ** 53 - 1],
  ['0.1', 0.1],
])('%s is the decimal %d', (text, value) => {
  expect(decimal().safeParse(parseBody(text))).toMatchObject({ success: true, data: value });
});

test.each([
  ...['9007199254740992', '-9007199254740992.0', '1e19', '1e400', '"3"', 'true', 'null'].map(
    parseBody,
  ),
  undefined,
])('%j is not a decimal', (value) => {
  const message =
    value === undefined
      ? 'is required'
      : 'must be a number, and an integer only up to 9007199254740991';
  expect(decimal().safeParse(value).error?.issues).toMatchObject([{ message }]);
});
