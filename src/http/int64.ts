/** 64-bit integers: ids and `categoryId`. */
import * as z from 'zod/mini';
import { requiredOr } from './schemas.ts';

const INT64_PROBLEM = 'must be an integer from -9223372036854775808 to 9223372036854775807';

/** A field of a body, which `parseBody` (json.ts) has made a bigint. */
export function int64() {
  return z.int64({
    error: (issue) =>
      typeof issue.input === 'string'
        ? `${INT64_PROBLEM}, not a string in quotes`
        : requiredOr(INT64_PROBLEM)(issue),
  });
}

/**
 * An id in a path or a query. A codec, because zod knows its output, by which openapi/ describes
 * it.
 */
export function int64Text() {
  return z.codec(
    z.string(INT64_PROBLEM).check(z.regex(/^-?\d+$/, INT64_PROBLEM)),
    z.int64(INT64_PROBLEM),
    { decode: BigInt, encode: String },
  );
}

/** Matches every JSON number (RFC 8259, section 6). */
const NUMBER = /^(?<sign>-?)(?<whole>\d+)(?:\.(?<fraction>\d+))?(?:[eE](?<exponent>[+-]?\d+))?$/;

const MAX_DIGITS = 19;

/**
 * The int64 value of a JSON number, on the digits as written: `9.007199254740993e15` is exact,
 * and `1.00000000000000000001` no integer. `1e1000000000` is cheap: an exponent is never expanded
 * beyond 19 digits.
 */
export function parseInt64(source: string): bigint | undefined {
  // The usual case: 18 digits always fit.
  if (/^-?\d{1,18}$/.test(source)) return BigInt(source);
  const parts = NUMBER.exec(source)?.groups;
  if (!parts) return undefined;
  const { sign = '', whole = '', fraction = '', exponent = '0' } = parts;

  // The value is digits × 10^scale. For 1.20e3: significant = 120, digits = 12, scale = 3 - 2 + 1
  // = 2. As `digits` has no zero at either end, a value with a negative scale is no integer.
  const significant = (whole + fraction).replace(/^0+/, '');
  const digits = withoutTrailingZeros(significant);
  if (digits === '') return 0n;
  const scale = Number(exponent) - fraction.length + (significant.length - digits.length);
  if (scale < 0 || digits.length + scale > MAX_DIGITS) return undefined;

  const value = BigInt(sign + digits + '0'.repeat(scale));
  return BigInt.asIntN(64, value) === value ? value : undefined;
}

/** Not `/0+$/`, which takes quadratic time for zeros that another digit follows. */
function withoutTrailingZeros(digits: string): string {
  let end = digits.length;
  while (digits[end - 1] === '0') end -= 1;
  return digits.slice(0, end);
}
