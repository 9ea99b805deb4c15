/**
 * Makes `JSON.stringify`, and so `c.json`, write a bigint as an exact integer. app.ts imports this file first.
 *
 * Hono's types follow `toJSON`: `hc` sees a number, and `response.json()` rounds an integer beyond 2^53. A client that needs each
 * digit parses the text itself.
 */
declare global {
  interface BigInt {
    toJSON(): number;
  }
  interface JSON {
    /**
     * Its result is an object that `JSON.stringify` writes as the text, and no number. TypeScript's library lacks it:
     * https://github.com/microsoft/TypeScript/issues/61330
     */
    rawJSON(text: string): number;
  }
}

/** https://developer.mozilla.org/docs/Web/JavaScript/Reference/Global_Objects/BigInt#use_within_json */
BigInt.prototype.toJSON = function toJSON() {
  const number = Number(this);
  // rawJSON parses its text, so it takes five times as long as a number.
  return Number.isSafeInteger(number) ? number : JSON.rawJSON(this.toString());
};

export {};
