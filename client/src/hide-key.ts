/** Hides the API key in errors, which end up in logs. Servers and other packages can put the key into an error. */

/** A shorter key is not hidden: only tests have one, and hiding the key `key` would spoil the code `missing_api_key`. */
const MIN_LENGTH = 8;

export function hideKey(text: string, apiKey: string): string {
  if (apiKey.length < MIN_LENGTH) return text;
  const literal = apiKey.replace(/\W/g, '\\$&');
  // In JSON, each character can be written as an escape, such as `\u0061`. Here any escape of ASCII stands for any character.
  const pattern = literal.replace(/\\?./g, '($&|\\\\u00..)');
  return text.replace(new RegExp(pattern, 'g'), '<API key>');
}
