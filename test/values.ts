/** Arbitraries of fast-check: values that the description declares valid, and invalid ones. */
import fc from 'fast-check';
import { VISIBLE } from '../src/pets/schema.ts';
import { description, type Schema } from './contract.ts';

export const INT64 = { min: -(2n ** 63n), max: 2n ** 63n - 1n };

/** Any Unicode character except control characters and surrogates. */
export const character = fc
  .oneof(fc.integer({ min: 0x20, max: 0x7e }), fc.integer({ min: 0xa0, max: 0x10ffff }))
  .map((codePoint) => String.fromCodePoint(codePoint))
  .filter((text) => text.isWellFormed());
export const characters = (maxLength: number) =>
  fc.array(character, { maxLength }).map((all) => all.join(''));

/** Rules that the description states only in words: a character that a valid text has, and others. */
const IN_WORDS: Record<string, { needs: RegExp; others: string[] }> = {
  name: { needs: VISIBLE, others: [' ', '\u200b', '\u00a0', '\ufeff', '\u3164'] },
};

function validText({ pattern = '', minLength = 0, maxLength = 100 }: Schema, field: string) {
  const expression = new RegExp(pattern, 'u');
  const hasLength = (text: string) =>
    [...text].length >= minLength && [...text].length <= maxLength;
  return fc
    .oneof(fc.stringMatching(expression), characters(maxLength))
    .filter((text) => text.isWellFormed() && hasLength(text) && expression.test(text))
    .filter((text) => IN_WORDS[field]?.needs.test(text) ?? true);
}

function invalidText({ pattern = '', maxLength }: Schema, field: string) {
  const tooLong = maxLength === undefined ? [] : ['犬'.repeat(maxLength + 1)];
  const control = fc
    .integer({ min: 0, max: 0x9f })
    .map((code) => `a${String.fromCharCode(code)}`)
    .filter((text) => !new RegExp(pattern, 'u').test(text));
  const withoutNeeded = fc
    .array(fc.constantFrom('', ...(IN_WORDS[field]?.others ?? [])))
    .map((all) => all.join(''));
  return fc.oneof(
    fc.constantFrom('a\ud800', '\udc36a', ...tooLong),
    ...(pattern === '' ? [] : [control]),
    ...(field in IN_WORDS ? [withoutNeeded] : []),
  );
}

/** Values of a schema, as JSON text: an int64 would lose digits as a number. */
export function valid(schema: Schema, field = ''): fc.Arbitrary<string> {
  if (schema.$ref) return valid(resolve(schema.$ref), field);
  if (schema.enum) return fc.constantFrom(...schema.enum).map((value) => JSON.stringify(value));
  if (schema.type === 'integer') {
    const { minimum = 0, maximum = 0, format } = schema;
    // JSON.parse rounds the maximum of an int64.
    const [min, max] = [BigInt(minimum), format === 'int64' ? INT64.max : BigInt(maximum)];
    return fc.oneof(fc.bigInt({ min, max }), fc.constantFrom(min, max)).map(String);
  }
  return validText(schema, field).map((text) => JSON.stringify(text));
}

/** JSON texts that are invalid for a schema, by each of its rules. */
export function invalid(schema: Schema, field = ''): fc.Arbitrary<string> {
  if (schema.$ref) return invalid(resolve(schema.$ref), field);
  const otherTypes = fc.constantFrom('null', 'true', '[]', '{}', '[1]', '{"a":1}');
  if (schema.type === 'integer') {
    const above = fc.bigInt({ min: INT64.max + 1n, max: INT64.max * 1000n });
    const below = fc.bigInt({ min: INT64.min * 1000n, max: INT64.min - 1n });
    const fraction = fc.double({ noInteger: true, noNaN: true, noDefaultInfinity: true });
    const text = fc.integer().map((value) => `"${value}"`);
    return fc.oneof(above.map(String), below.map(String), fraction.map(String), text, otherTypes);
  }
  const number = fc.integer().map(String);
  const texts = schema.enum
    ? fc.constantFrom('', 'SOLD', 'sold ', 'lost')
    : invalidText(schema, field);
  return fc.oneof(
    texts.map((text) => JSON.stringify(text)),
    number,
    otherTypes,
  );
}

export function resolve(reference: string): Schema {
  const schema = description.components.schemas[reference.split('/').at(-1) ?? ''];
  if (!schema) throw new Error(`no schema ${reference}`);
  return schema;
}
