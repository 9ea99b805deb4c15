/** JSON with every digit. */
import { expect, onTestFinished, test, vi } from 'vitest';
import { parseJson, stringifyJson } from '../src/index.ts';
import { clientWith, rex } from './fake.ts';

test.each([
  ['[{"id":7,"pet":{"petId":-0}},null,3]', [{ id: 7n, pet: { petId: 0n } }, null, 3]],
  ['{"id":7,"petId":9007199254740993}', { id: 7n, petId: 9007199254740993n }],
  // Other fields: a bigint only from 2^53 on.
  [
    '[3,9007199254740991,1.5,{"age":-9007199254740992}]',
    [3, 9007199254740991, 1.5, { age: -(2n ** 53n) }],
  ],
  ['{"id":1.5,"next":{"id":"x"},"far":1e999}', { id: 1.5, next: { id: 'x' }, far: Infinity }],
])('parseJson(%s)', (json, value) => {
  expect(parseJson(json)).toStrictEqual(value);
});

test('stringifyJson is exact, also in a program that gives BigInt a toJSON', () => {
  // The test files in a process share it, and the service has its own.
  const { toJSON } = Object(BigInt.prototype);
  onTestFinished(() => void Object.assign(BigInt.prototype, { toJSON }));
  Object.assign(BigInt.prototype, { toJSON: String });
  const pet = { id: -(2n ** 63n), text: '"7n"\n', list: [null, 1.5, 9007199254740993n] };
  const json =
    '{"id":-9223372036854775808,"text":"\\"7n\\"\\n","list":[null,1.5,9007199254740993]}';
  expect(stringifyJson(pet)).toBe(json);
});

test('a number that was perhaps rounded is a TypeError that names its field', () => {
  const rounded = JSON.parse('{"categoryId":9007199254740993}');
  expect(() => stringifyJson(rounded)).toThrow('categoryId: must be a bigint');
});

test.each(['getPet', 'updatePet', 'deletePet', 'getOrder', 'updateOrder'] as const)(
  '%s rejects a number as an id, and sends nothing',
  async (method) => {
    const { store, requests } = clientWith([rex]);
    const id = JSON.parse('9007199254740993');
    await expect(store[method](id, Object({}))).rejects.toThrow('id: must be a bigint');
    expect(requests).toEqual([]);
  },
);

test('a runtime that would round integers is an error at once', () => {
  // As before Node.js 22, where a reviver does not get the digits as written.
  const parse = vi.spyOn(JSON, 'parse').mockReturnValue(2 ** 53);
  onTestFinished(() => parse.mockRestore());
  expect(() => clientWith([])).toThrow('JSON.parse rounds integers: ');
});
