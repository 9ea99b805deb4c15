/**
 * Reading JSON without losing a digit. `JSON.parse` turns every number into a double, which is exact
 * to 2^53 only; identifiers are int64. (Writing needs nothing here: SQLite writes the JSON.)
 */
import { ApiError } from '../errors.ts';

/** Stands for the value of a member that was given more than once. */
export const REPEATED = Symbol('repeated');

/** No body that the service takes is nested deeper than one level; this leaves room for others. */
const MAX_DEPTH = 32;

/** A token of a text that is known to be JSON: a string, a bracket, a separator or a bare word. */
const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\]:,]|[^\s"{}[\]:,]+/g;

/**
 * Parses a JSON text (RFC 8259). In the members of a top-level object, every number whose value is
 * an integer within int64 is a `bigint`, exact however it was written; any other number is a
 * `number`, not to be used as a value. A name given twice has the value {@link REPEATED}: RFC 8259,
 * section 4, leaves its meaning open, and to pick one would lose the other.
 *
 * Time is linear in the length of the text, whatever its shape.
 *
 * @throws ApiError 400 `invalid_json` when the text is not JSON or is nested more than 32 levels deep.
 */
export function parseJson(text: string): unknown {
  const value = parse(text);
  if (typeof value !== 'object' || value === null) return value;
  const members = new Map<string, unknown>(Object.entries(value));

  const seen = new Set<string>();
  let depth = 0;
  let name = '';
  let previous = '';
  for (const [token] of text.matchAll(TOKEN)) {
    if (token === '{' || token === '[') {
      depth += 1;
      if (depth > MAX_DEPTH)
        throw new ApiError(
          'invalid_json',
          `The body must not be nested more than ${MAX_DEPTH} levels deep.`,
        );
    } else if (token === '}' || token === ']') {
      depth -= 1;
    } else if (depth === 1 && token === ':') {
      name = JSON.parse(previous);
      if (seen.has(name)) members.set(name, REPEATED);
      seen.add(name);
    } else if (depth === 1 && previous === ':' && typeof members.get(name) === 'number') {
      members.set(name, parseInt64(token) ?? members.get(name));
    }
    previous = token;
  }
  // fromEntries defines properties, so that a member named __proto__ stays an ordinary member.
  return Array.isArray(value) ? value : Object.fromEntries(members);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) throw invalidJson();
    throw error;
  }
}

export function invalidJson(): ApiError {
  return new ApiError('invalid_json', 'The body must be valid JSON.');
}

/**
 * The int64 that a JSON number (RFC 8259, section 6) stands for, or `undefined` when its value is
 * not an integer or not within int64. Decided on the digits as written, so `9.007199254740993e15`
 * is exact and `1.00000000000000000001` is no integer; an exponent is never expanded past 19 digits,
 * so that `1e1000000000` costs nothing. Leading zeros are allowed.
 */
export function parseInt64(source: string): bigint | undefined {
  const parts = /^(-?)([0-9]+)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]+))?$/.exec(source);
  if (!parts) return undefined;
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = parts;

  // value = digits × 10^scale, without zeros at either end of the digits.
  const digits = (whole + fraction).replace(/^0+/, '');
  let end = digits.length;
  while (digits[end - 1] === '0') end -= 1;
  if (end === 0) return 0n;
  const scale = Number(exponent) - fraction.length + (digits.length - end);

  if (scale < 0 || end + scale > 19) return undefined;
  const value = BigInt(`${sign}${digits.slice(0, end)}${'0'.repeat(scale)}`);
  return BigInt.asIntN(64, value) === value ? value : undefined;
}
