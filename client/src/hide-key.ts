/** Hides the API key in errors, which end up in logs: servers and other packages can put it there. */

/** Stands for the key. */
const HIDDEN = '<API key>';

/** For codes and ids. A shorter key is one of a test, and may be a part of them: `key` is one of `missing_api_key`. */
export const MIN_LENGTH_IN_WORDS = 8;

/** An ASCII character as JSON may write it, such as `\u0061`. */
const ESCAPE = /\\u00[2-7][\da-f]/gi;

export function hideKey(text: string, apiKey: string, minLength = 1): string {
  if (apiKey.length < minLength) return text;
  const decoded = text.replace(ESCAPE, (character) => JSON.parse(`"${character}"`));
  return (decoded.includes(apiKey) ? decoded : text).replaceAll(apiKey, HIDDEN);
}
