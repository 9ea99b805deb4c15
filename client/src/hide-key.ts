/** Hides the API key in errors, which end up in logs: servers and other packages can put it there. */

/** A shorter key is not hidden: only tests have one, and hiding `key` would spoil the code `missing_api_key`. */
const MIN_LENGTH = 8;

/**
 * Each character of the key is also hidden as JSON may write it, such as `\u0061`. Keys of the store have no character that JSON
 * escapes in another way, such as `/`.
 */
export function hideKey(text: string, apiKey: string): string {
  if (apiKey.length < MIN_LENGTH) return text;
  const pattern = apiKey.replace(/./g, (character) => {
    const code = character.charCodeAt(0).toString(16);
    return `(\\x${code}|\\\\u00${code})`;
  });
  // The hexadecimal digits of `\u004a` can be of either case.
  return text.replace(new RegExp(pattern, 'gi'), '<API key>');
}
