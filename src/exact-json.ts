/** JSON with exact integers: a bigint is written as a number, and a number is read as a bigint. */

/** For `JSON.stringify`, and so `c.json`. Hono's types follow `toJSON`: `hc` sees a number. */
declare global {
  interface BigInt {
    toJSON(): number;
  }
  interface JSON {
    /** TypeScript lacks it: https://github.com/microsoft/TypeScript/issues/61330 */
    rawJSON(text: string): number;
  }
}

BigInt.prototype.toJSON = function toJSON() {
  const number = Number(this);
  // rawJSON takes five times as long.
  return Number.isSafeInteger(number) ? number : JSON.rawJSON(this.toString());
};

/**
 * A number whose value is an int64, in any notation, becomes a `bigint`. Any other stays a
 * `number`. `onValue` is called for each value, including the top-level one.
 */
export function parseJson(text: string, onValue = () => {}) {
  // The number as written: https://tc39.es/proposal-json-parse-with-source/
  return JSON.parse(text, (_, value: unknown, context?: { source: string }) => {
    onValue();
    if (typeof value !== 'number' || !context) return value;
    return parseInt64(context.source) ?? value;
  });
}

/** Matches every JSON number (RFC 8259, section 6). */
const NUMBER = /^(?<sign>-?)(?<whole>\d+)(?:\.(?<fraction>\d+))?(?:[eE](?<exponent>[+-]?\d+))?$/;

const MAX_DIGITS = 19;

/** By its digits: `9.007199254740993e15` is exact, and `1.00000000000000000001` no integer. */
export function parseInt64(source: string): bigint | undefined {
  // 18 digits always fit.
  if (/^-?\d{1,18}$/.test(source)) return BigInt(source);
  const parts = NUMBER.exec(source)?.groups;
  if (!parts) return undefined;
  const { sign = '', whole = '', fraction = '', exponent = '0' } = parts;

  // The value is digits × 10^scale: 12 × 10^2 for 1.20e3. As `digits` does not end in a zero, a
  // value with a negative scale is no integer.
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
