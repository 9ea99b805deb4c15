/** Hides the API key in errors, which end up in logs: servers and other packages can put it there. */

/** Stands for the key. */
const HIDDEN = '<API key>';

/** In codes and ids, shorter keys are not hidden. Only tests have such keys, and hiding `key` would spoil `missing_api_key`. */
export const MIN_LENGTH_IN_CODES = 8;

/** An ASCII character as JSON may write it, such as `\u0061`. */
const ESCAPE = /\\u00[2-7][\da-f]/gi;

/** The text without the key, if the key has at least `minLength` characters. An empty key is none. */
export function hideKey(text: string, apiKey: string, minLength = 1): string {
  if (apiKey.length < minLength) return text;
  const decoded = text.replace(ESCAPE, (character) => JSON.parse(`"${character}"`));
  // Decoded only if that shows the key: otherwise, `\u0022` would become a quote, which ends a string of JSON.
  return (decoded.includes(apiKey) ? decoded : text).replaceAll(apiKey, HIDDEN);
}
