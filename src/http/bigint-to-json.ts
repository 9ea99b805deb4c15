/**
 * Makes `JSON.stringify`, and so `c.json`, write a bigint as an exact integer. Hono's types follow
 * `toJSON`: `hc` sees a number, and `response.json()` rounds one beyond 2^53.
 */
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
  // rawJSON returns an object, which JSON.stringify writes as the text. It takes five times as long.
  return Number.isSafeInteger(number) ? number : JSON.rawJSON(this.toString());
};

export {};
