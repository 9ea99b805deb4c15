/** JSON with every digit. */
import { expect, onTestFinished, test, vi } from 'vitest';
import { parseJson, stringifyJson } from '../src/index.ts';
import { clientWith, rex } from './fake.ts';

test.each([
  [
    '[{"id":7,"pet":{"petId":-0,"categoryId":9007199254740993}},{"id":1.5,"next":{"id":"x"}}]',
    [
      { id: 7n, pet: { petId: 0n, categoryId: 9007199254740993n } },
      { id: 1.5, next: { id: 'x' } },
    ],
  ],
  // Other fields: a bigint only from 2^53 on, with up to 20 digits.
  [
    '[null,3,1.5,1e999,9007199254740991,-9007199254740992]',
    [null, 3, 1.5, Infinity, 9007199254740991, -9007199254740992n],
  ],
  ['[12345678901234567890,123456789012345678901]', [12345678901234567890n, 123456789012345680000]],
])('parseJson(%s)', (json, value) => {
  expect(parseJson(json)).toStrictEqual(value);
});

test('stringifyJson is exact, also in a program that gives BigInt a toJSON', () => {
  // The test files in a process share it, and the service has its own.
  const { toJSON } = Object(BigInt.prototype);
  onTestFinished(() => void Object.assign(BigInt.prototype, { toJSON }));
  Object.assign(BigInt.prototype, { toJSON: String });
  const pet = {
    id: -(2n ** 63n),
    text: '"7n"\n',
    list: [null, 1.5, 9007199254740993n, new Date(0)],
  };
  expect(stringifyJson(pet)).toBe(
    '{"id":-9223372036854775808,"text":"\\"7n\\"\\n","list":[null,1.5,9007199254740993,"1970-01-01T00:00:00.000Z"]}',
  );
});

test('a number that was perhaps rounded is a TypeError that names its field', () => {
  const rounded = JSON.parse('{"categoryId":-9007199254740993}');
  expect(() => stringifyJson(rounded)).toThrow(
    new TypeError('categoryId: must be a bigint, such as 7n'),
  );
});

test.each(['getPet', 'updatePet', 'deletePet', 'getOrder', 'updateOrder'] as const)(
  '%s rejects a number as an id',
  async (method) => {
    const call = clientWith([rex]).store[method](JSON.parse('7'), Object({}));
    await expect(call).rejects.toThrow(new TypeError('id: must be a bigint, such as 7n'));
  },
);

test('a runtime that would round integers is an error at once', () => {
  // As before Node.js 22, where a reviver does not get the digits as written.
  const parse = vi
    .spyOn(JSON, 'parse')
    .mockImplementation((_, reviver) => reviver?.call({}, '', 2 ** 53));
  onTestFinished(() => parse.mockRestore());
  expect(() => clientWith([])).toThrow(
    new Error('JSON.parse rounds integers: use Node.js 22 or later'),
  );
});
