/**
 * Parses JSON without rounding int64 identifiers: `JSON.parse` turns every number into a double, which is exact only
 * up to 2^53. (SQLite writes the JSON of responses.)
 */
import { ApiError } from '../errors.ts';

/** The value of a member that is given more than once. */
export const REPEATED = Symbol('repeated');

/** Every body that the service accepts is one level deep; the rest is reserve. */
const MAX_DEPTH = 32;

/** Maximum number of members of a body: thousands would take milliseconds to validate. */
const MAX_MEMBERS = 100;

/** In valid JSON: a string, a bracket, or a colon with the number that follows it. */
const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\]]|:\s*(?:-?[0-9][^\s,}\]]*)?/g;

/**
 * Parses a JSON text (RFC 8259). In the members of a top-level object, a number whose value is an int64 becomes an
 * exact `bigint`, in any notation. Any other number stays a `number`, which may be rounded. A repeated name has the
 * value {@link REPEATED}, because RFC 8259, section 4, does not define its meaning.
 *
 * Time is linear in the length of the text.
 *
 * @throws ApiError 400 when the text is not JSON, is nested too deeply or has too many members.
 */
export function parseJson(text: string): unknown {
  const value = parse(text);
  if (typeof value !== 'object' || value === null) return value;
  // An array has no members; the schema rejects it.
  const members = Array.isArray(value) ? {} : value;
  if (Object.keys(members).length > MAX_MEMBERS) {
    throw new ApiError('invalid_request', `The body must have at most ${MAX_MEMBERS} fields.`);
  }

  const seen = new Set<string>();
  let depth = 0;
  let previous = '';
  for (const token of text.match(TOKEN) ?? []) {
    if (token === '{' || token === '[') {
      depth += 1;
      if (depth > MAX_DEPTH) throw nestedTooDeeply();
    } else if (token === '}' || token === ']') {
      depth -= 1;
    } else if (depth === 1 && token.startsWith(':')) {
      const name: string = JSON.parse(previous);
      const number = token.slice(1).trimStart();
      // JSON.parse has defined the property, so even `__proto__` does not set the prototype.
      if (seen.has(name)) members[name] = REPEATED;
      else if (number !== '') members[name] = parseInt64(number) ?? Number(number);
      seen.add(name);
    }
    previous = token;
  }
  return value;
}

function nestedTooDeeply(): ApiError {
  const message = `The body must not be nested more than ${MAX_DEPTH} levels deep.`;
  return new ApiError('invalid_json', message);
}

type JsonValue = Record<string, unknown> | unknown[] | string | number | boolean | null;

function parse(text: string): JsonValue {
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
 * The int64 value of a JSON number (RFC 8259, section 6), or `undefined` when its value is not an int64. Works on the
 * digits as written: `9.007199254740993e15` is exact and `1.00000000000000000001` is not an integer. An exponent is
 * never expanded beyond 19 digits, so `1e1000000000` is cheap. Leading zeros are allowed.
 */
export function parseInt64(source: string): bigint | undefined {
  // A fast path for plain digits: 18 always fit in an int64.
  if (/^-?[0-9]{1,18}$/.test(source)) return BigInt(source);
  const parts = /^(-?)([0-9]+)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]+))?$/.exec(source);
  if (!parts) return undefined;
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = parts;

  // value = digits × 10^scale, where digits has no leading or trailing zeros.
  const digits = (whole + fraction).replace(/^0+/, '');
  let end = digits.length;
  while (digits[end - 1] === '0') end -= 1;
  if (end === 0) return 0n;
  const scale = Number(exponent) - fraction.length + (digits.length - end);

  if (scale < 0 || end + scale > 19) return undefined;
  const value = BigInt(`${sign}${digits.slice(0, end)}${'0'.repeat(scale)}`);
  return BigInt.asIntN(64, value) === value ? value : undefined;
}
