/** Hides the API key in errors, which end up in logs: servers and other packages can put it there. */

/** Stands for the key. */
const HIDDEN = '<API key>';

/** An ASCII character as JSON may write it, such as `\u0061`. */
const ESCAPE = /\\u00[2-7][\da-f]/gi;

/** A shorter key is one of a test, and may be a part of other words: `key` is one of `missing_api_key`. */
const MIN_LENGTH_IN_WORDS = 8;

export function hideKey(text: string, apiKey: string): string {
  const decoded = text.replace(ESCAPE, (character) => JSON.parse(`"${character}"`));
  return (decoded.includes(apiKey) ? decoded : text).replaceAll(apiKey, HIDDEN);
}

/** For error codes and ids of requests. */
export function hideKeyInWord(word: string, apiKey: string): string {
  const mayBePart = apiKey.length < MIN_LENGTH_IN_WORDS && word !== apiKey;
  return mayBePart ? word : hideKey(word, apiKey);
}
