/** Hides the API key in errors, which end up in logs. Servers and other packages can put the key into an error. */

/** A shorter key is not hidden: only tests have one, and hiding the key `key` would spoil the code `missing_api_key`. */
const MIN_LENGTH = 8;

export function hideKey(text: string, apiKey: string): string {
  return apiKey.length < MIN_LENGTH ? text : text.replaceAll(apiKey, '<API key>');
}
