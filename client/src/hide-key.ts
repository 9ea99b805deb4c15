/** Hides the API key in errors, which end up in logs: servers and other packages can put it there. */

/** A shorter key is not hidden: only tests have one, and hiding `key` would spoil the code `missing_api_key`. */
const MIN_LENGTH = 8;

/**
 * An ASCII character as JSON may write it, such as `\u0061`. Keys of the store have no character that JSON escapes in another way,
 * such as `/`.
 */
const ESCAPE = /\\u00[2-7][\da-f]/gi;

export function hideKey(text: string, apiKey: string): string {
  if (apiKey.length < MIN_LENGTH) return text;
  const decoded = text.replace(ESCAPE, (character) => JSON.parse(`"${character}"`));
  // Decoded only if that shows the key: otherwise, `\u0022` would become a quote, which ends a string of JSON.
  return (decoded.includes(apiKey) ? decoded : text).replaceAll(apiKey, '<API key>');
}
