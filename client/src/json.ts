/**
 * JSON without losing a digit: `JSON.parse` turns every number into a double, which rounds integers beyond 2^53, and
 * `JSON.stringify` rejects a `bigint`.
 */
import { parse } from 'lossless-json';
import type { components } from '../schema.d.ts';

type Schemas = components['schemas'];
type BigIntKeys<T> = T extends string | readonly unknown[]
  ? never
  : { [K in keyof T]-?: T[K] extends bigint | null | undefined ? K : never }[keyof T];
/** The names of the int64 fields of every schema. */
type Int64Field = { [S in keyof Schemas]: BigIntKeys<Schemas[S]> }[keyof Schemas];

/** The compiler compares these with the description. */
const INT64_FIELDS: Record<Int64Field, true> = { id: true, categoryId: true, petId: true };

/** Longer integers would take long to convert, and no int64 has more than 19 digits. */
const MAX_DIGITS = 1000;

/**
 * Parses JSON. The int64 fields of the store (`id`, `categoryId`, `petId`) and every integer beyond 2^53 become a
 * `bigint`; other numbers stay a `number`. The inverse of {@link stringifyJson} for everything that the store returns.
 *
 * @throws SyntaxError when the text is not JSON
 * @example const pet = parseJson('{"id":7,"name":"Rex","categoryId":9007199254740993}'); // id: 7n
 */
export function parseJson(text: string): unknown {
  return parse(text, (name, value) => (isInt64(name, value) ? BigInt(value) : value), parseNumber);
}

function isInt64(name: string, value: unknown): value is number {
  return Object.hasOwn(INT64_FIELDS, name) && Number.isSafeInteger(value);
}

/** `9007199254740993`, `9.007199254740993e15` and `9007199254740993.0` are the same integer. */
function parseNumber(text: string): number | bigint {
  const number = Number(text);
  if (Math.abs(number) <= Number.MAX_SAFE_INTEGER) return number;
  const [, integer = '', fraction = '', exponent = 0] =
    /^(-?\d+)(?:\.(\d*?)0*)?(?:e(.+))?$/i.exec(text) ?? [];
  const zeros = Number(exponent) - fraction.length;
  return zeros < 0 || text.length + zeros > MAX_DIGITS
    ? number
    : BigInt(integer + fraction + '0'.repeat(zeros));
}

/**
 * Writes JSON with every digit of a `bigint`, which `JSON.stringify` rejects.
 * @example response.type('json').send(stringifyJson(pet)); // Express
 */
export function stringifyJson(value: unknown): string {
  // No string of the value contains it. `stringify` of lossless-json would be a tenth of the client.
  const mark = `bigint${Math.random()}:`;
  const json = JSON.stringify(value, function (this: Record<string, unknown>, name, each) {
    // Not `each`: some programs add a `toJSON` to BigInt, which makes it a string.
    const original = this[name];
    return typeof original === 'bigint' ? mark + original : each;
  });
  return (json ?? 'null').replaceAll(new RegExp(`"${mark}(-?\\d+)"`, 'g'), '$1');
}

/** @throws TypeError when an int64 field is not a `bigint` */
export function requireBigInts(body: object): void {
  for (const [name, value] of Object.entries(body))
    if (Object.hasOwn(INT64_FIELDS, name) && value !== undefined) requireBigInt(name, value);
}

/** For callers in JavaScript: no compiler rejects their numbers, which may have been rounded already. */
export function requireBigInt(name: string, value: unknown): void {
  if (typeof value !== 'bigint') throw new TypeError(`${name}: must be a bigint, such as 7n`);
}
