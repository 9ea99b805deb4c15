/** JSON with every digit. */
import { afterEach, expect, test } from 'vitest';
import { parseJson, stringifyJson } from '../../client/src/index.ts';
import { ANSWERS, clientWith, REX } from './fake.ts';

test.each([
  // Int64 fields of the description: always a bigint.
  ['{"id":7,"petId":-0}', { id: 7n, petId: 0n }],
  ['{"id":-9223372036854775808}', { id: -9223372036854775808n }],
  // Other fields: a bigint only beyond 2^53.
  ['{"ownerId":9007199254740993}', { ownerId: 9007199254740993n }],
  ['{"a":[{"b":-9007199254740993}]}', { a: [{ b: -9007199254740993n }] }],
  ['[3,9007199254740991,1.5,1e-400]', [3, 9007199254740991, 1.5, 0]],
  // The store writes ids as digits. Other numbers reject nothing.
  ['{"owner":{"id":1.5},"next":{"id":"x"}}', { owner: { id: 1.5 }, next: { id: 'x' } }],
  ['{"id":null,"far":1e1000000000}', { id: null, far: Number.POSITIVE_INFINITY }],
  ['"9007199254740993 🐈 \\"id\\":7"', '9007199254740993 🐈 "id":7'],
])('parseJson(%s)', (json, value) => {
  expect(parseJson(json)).toStrictEqual(value);
});

// In quadratic time, one of them would take an hour.
test.each([
  ['zeros after a point', `1.${'0'.repeat(1e6)}1`],
  ['zeros before a point', `1${'0'.repeat(1e6)}.5`],
  ['digits', `-${'9'.repeat(1e6)}`],
  ['digits of an exponent', `1e-${'1'.repeat(1e6)}`],
])('a number with a million %s takes linear time', (_, number) => {
  expect(parseJson(`{"id":${number}}`)).toEqual({ id: Number(number) });
});

test('stringifyJson writes what JSON.stringify writes, and a bigint exactly', () => {
  const list = [undefined, null, 1.5, new Date(0)];
  const value = { text: '"7n" bigint0.5:7 \n', list, none: undefined, __proto__: null };
  expect(stringifyJson(value)).toBe(JSON.stringify(value));
  expect(stringifyJson(undefined)).toBe('null');
  const pet = { id: -(2n ** 63n), tags: [9007199254740993n], name: '1' };
  const json = '{"id":-9223372036854775808,"tags":[9007199254740993],"name":"1"}';
  expect(stringifyJson(pet)).toBe(json);
  expect(parseJson(json)).toEqual(pet);
});

afterEach(() => void Reflect.deleteProperty(BigInt.prototype, 'toJSON'));

test('stringifyJson is exact in a program that gives BigInt a toJSON', () => {
  Object.defineProperty(BigInt.prototype, 'toJSON', { value: String, configurable: true });
  expect(stringifyJson({ id: 7n })).toBe('{"id":7}');
});

test('a number in place of a bigint is a TypeError, and sends nothing', async () => {
  const { store, requests } = clientWith([ANSWERS.rex]);
  // A caller in JavaScript.
  const rounded = JSON.parse('9007199254740993');
  for (const call of [
    store.getPet(rounded),
    store.createPet({ ...REX, categoryId: rounded }),
    store.placeOrder({ petId: rounded }),
    store.getOrder(JSON.parse('{}').id),
  ])
    await expect(call).rejects.toThrow(/Id: must be a bigint/);
  expect(requests).toEqual([]);
});

test('an undefined field of a patch is not sent', async () => {
  const { store, requests } = clientWith([ANSWERS.rex]);
  await store.updatePet(1n, { name: 'Max', categoryId: undefined });
  expect(await requests[0]?.text()).toBe('{"name":"Max"}');
});
