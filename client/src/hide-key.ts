/** Hides the API key in errors, which end up in logs: servers and other packages can put it there. */

/** A shorter key is not hidden: only tests have one, and hiding `key` would spoil the code `missing_api_key`. */
const MIN_LENGTH = 8;

export function hideKey(text: string, apiKey: string): string {
  return apiKey.length < MIN_LENGTH ? text : text.replaceAll(apiKey, '<API key>');
}
