/** JSON with every digit. */
import { expect, onTestFinished, test } from 'vitest';
import { parseJson, stringifyJson } from '../src/index.ts';
import { clientWith, REX, rex } from './fake.ts';

test.each([
  // Int64 fields of the description: always a bigint.
  ['[{"id":7,"pet":{"petId":-0}},null]', [{ id: 7n, pet: { petId: 0n } }, null]],
  ['{"id":7,"petId":9007199254740993}', { id: 7n, petId: 9007199254740993n }],
  // Other fields: a bigint only from 2^53 on.
  ['[3,9007199254740991,1.5,1e-400]', [3, 9007199254740991, 1.5, 0]],
  [
    '{"toString":7,"list":[{"a":-9007199254740992}]}',
    { toString: 7, list: [{ a: -9007199254740992n }] },
  ],
  // The store writes ids as digits. Other numbers reject nothing.
  ['{"id":1.5,"next":{"id":"x"},"far":1e999}', { id: 1.5, next: { id: 'x' }, far: Infinity }],
  ['"9007199254740993 🐈 \\"id\\":7"', '9007199254740993 🐈 "id":7'],
  // Exact up to 100 digits.
  [`[-${'9'.repeat(100)},${'9'.repeat(101)}]`, [-BigInt('9'.repeat(100)), 1e101]],
])('parseJson(%s)', (json, value) => {
  expect(parseJson(json)).toStrictEqual(value);
});

test('stringifyJson writes what JSON.stringify writes', () => {
  const list = [undefined, null, 1.5, new Date(0)];
  const value = { text: '"7n" bigint0.5:7 \n', list, none: undefined };
  expect(stringifyJson(value)).toBe(JSON.stringify(value));
  expect(stringifyJson(undefined)).toBe('null');
});

test('stringifyJson is exact, also in a program that gives BigInt a toJSON', () => {
  // Vitest runs the tests of the service in this process, too: the app has set a `toJSON`.
  const before = Object.getOwnPropertyDescriptor(BigInt.prototype, 'toJSON');
  onTestFinished(() => {
    Reflect.deleteProperty(BigInt.prototype, 'toJSON');
    if (before) Object.defineProperty(BigInt.prototype, 'toJSON', before);
  });
  Object.assign(BigInt.prototype, { toJSON: String });
  const price = { toJSON: () => 9007199254740993n };
  const pet = { id: -(2n ** 63n), prices: [price] };
  expect(stringifyJson(pet)).toBe('{"id":-9223372036854775808,"prices":[9007199254740993]}');
});

test('a number in place of a bigint is a TypeError, and sends nothing', async () => {
  const { store, requests } = clientWith([rex]);
  // A caller in JavaScript.
  const rounded = JSON.parse('9007199254740993');
  for (const [call, name] of [
    [store.getPet(rounded), 'petId'],
    [store.createPet({ ...REX, categoryId: rounded }), 'categoryId'],
    [store.getPet(rounded.missing), 'petId'],
  ] as const)
    await expect(call).rejects.toThrow(`${name}: must be a bigint`);
  expect(requests).toEqual([]);
});

test('a null field may be an int64', async () => {
  const { store, requests } = clientWith([rex]);
  // A caller in JavaScript. No field of the store is both an int64 and nullable yet.
  await store.updatePet(1n, JSON.parse('{"categoryId":null}'));
  expect(await requests[0]?.text()).toBe('{"categoryId":null}');
});
