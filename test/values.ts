/** Values that the description calls valid, and others, as arbitraries of fast-check. */
import fc from 'fast-check';
import { description, type Schema } from './contract.ts';

export const INT64 = { min: -(2n ** 63n), max: 2n ** 63n - 1n };

/** Any Unicode character but those that a name must not contain. */
export const character = fc
  .oneof(fc.integer({ min: 0x20, max: 0x7e }), fc.integer({ min: 0xa0, max: 0x10ffff }))
  .map((codePoint) => String.fromCodePoint(codePoint))
  .filter((text) => text.isWellFormed());
const visible = fc.constantFrom('a', 'é', '犬', '🐶', 'e\u0301', '"', '\\', '/', '<', '%', '&');
export const characters = (maxLength: number) =>
  fc.array(character, { maxLength }).map((all) => all.join(''));

/** What the description says of a name in words. */
const name = fc
  .tuple(characters(126), visible, characters(126))
  .map(([before, one, after]) => before + one + after);
const notAName = fc.oneof(
  fc.integer({ min: 256, max: 300 }).map((length) => '犬'.repeat(length)),
  fc
    .tuple(name, fc.oneof(fc.integer({ min: 0, max: 0x1f }), fc.integer({ min: 0x7f, max: 0x9f })))
    .map(([text, code]) => text + String.fromCharCode(code)),
  fc.array(fc.constantFrom(' ', '\u200b', '\u00a0', '\ufeff', '\u3164')).map((all) => all.join('')),
  fc.constantFrom('a\ud800', '\udc36a'),
);

/** Values of a schema, as JSON text: an int64 would lose digits as a number. */
export function valid(schema: Schema): fc.Arbitrary<string> {
  if (schema.$ref) return valid(resolve(schema.$ref));
  if (schema.enum) return fc.constantFrom(...schema.enum).map((value) => JSON.stringify(value));
  if (schema.type === 'integer') {
    const { minimum = 0, maximum = 0, format } = schema;
    // JSON.parse rounds the maximum of an int64.
    const [min, max] = [BigInt(minimum), format === 'int64' ? INT64.max : BigInt(maximum)];
    return fc.oneof(fc.bigInt({ min, max }), fc.constantFrom(min, max)).map(String);
  }
  return name.map((text) => JSON.stringify(text));
}

/** JSON texts that are no value of a schema, by each of its rules. */
export function invalid(schema: Schema): fc.Arbitrary<string> {
  if (schema.$ref) return invalid(resolve(schema.$ref));
  const otherTypes = fc.constantFrom('null', 'true', '[]', '{}', '[1]', '{"a":1}');
  if (schema.type === 'integer') {
    const above = fc.bigInt({ min: INT64.max + 1n, max: INT64.max * 1000n });
    const below = fc.bigInt({ min: INT64.min * 1000n, max: INT64.min - 1n });
    const fraction = fc.double({ noInteger: true, noNaN: true, noDefaultInfinity: true });
    const text = fc.integer().map((value) => `"${value}"`);
    return fc.oneof(above.map(String), below.map(String), fraction.map(String), text, otherTypes);
  }
  const number = fc.integer().map(String);
  const texts = schema.enum ? fc.constantFrom('', 'SOLD', 'sold ', 'lost') : notAName;
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
