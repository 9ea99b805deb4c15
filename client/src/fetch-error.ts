/** Failures without a complete response: what the errors of `fetch` and of an `apiKey` function show, in each runtime. */
import type { Failure } from './failure.ts';
import { hideKey } from './hide-key.ts';

/** In Node.js and Bun: no server listened, its name was not found, or it did not accept the connection in time. */
const NOT_CONNECTED = ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'UND_ERR_CONNECT_TIMEOUT'];

/** A copy of an error: of its texts alone, without the key. */
type Copy = Error & { code?: string; syscall?: string };

export function apiKeyFailure(error: unknown): Failure {
  // There is no key yet to hide.
  const message = messageOf('The apiKey function failed', copiesOf(error, ''));
  return { code: 'api_key_failed', message, cause: error };
}

/**
 * @param isOfCustomFetch - whether a `fetch` that the user passed threw the error. Such an error can have the key where nobody can
 *   look for it, for example in a `Request`, so the cause of the failure is a copy of it.
 */
export function networkFailure(error: unknown, apiKey: string, isOfCustomFetch: boolean): Failure {
  const copies = copiesOf(error, apiKey);
  return {
    code: 'network_error',
    message: messageOf('The request failed', copies),
    cause: isOfCustomFetch || hasKey(error, apiKey) ? copies[0] : error,
    isUnsent: copies.some(isOfConnecting),
  };
}

/** Node.js gives the reason, such as ECONNREFUSED, only in the cause. */
function messageOf(beginning: string, [copy, cause]: Copy[]) {
  const parts = [beginning, copy?.message, cause?.code ?? cause?.message];
  return parts.filter(Boolean).join(': ');
}

/** Not by EHOSTUNREACH and ETIMEDOUT, which can also end a connection: they prove something only with the `syscall`. */
function isOfConnecting({ message, code = '', syscall }: Copy) {
  const isRefused = syscall === 'connect' || NOT_CONNECTED.includes(code);
  // Deno has no code, only this text.
  return isRefused || message.includes(': client error (Connect)');
}

/** Copies of an error, of its cause, and so on, down to the fourth. */
function copiesOf(error: unknown, apiKey: string, depth = 4): Copy[] {
  if (depth === 0 || error == null) return [];
  try {
    // A text that was thrown is its own message.
    const { message = error, name, code, syscall, cause, errors } = Object(error);
    // If a host has several addresses, Node.js has an error for each.
    const causes = copiesOf(cause ?? errors?.[0], apiKey, depth - 1);
    const copy = new Error('', causes[0] && { cause: causes[0] });
    for (const [field, text] of Object.entries({ message, name, code, syscall }))
      if (typeof text === 'string') Object.assign(copy, { [field]: hideKey(text, apiKey) });
    return [copy, ...causes];
  } catch {
    // A getter can throw.
    return [new Error()];
  }
}

/** Whether a text in an error has the key: in its fields, in their fields, and so on, down to the fourth level. */
function hasKey(value: unknown, apiKey: string, depth = 4): boolean {
  if (typeof value === 'string') return hideKey(value, apiKey) !== value;
  // An array of bytes has a field for each byte: to look at them would take too long.
  if (depth === 0 || ArrayBuffer.isView(value)) return false;
  try {
    const fields = Object.values(Object.getOwnPropertyDescriptors(Object(value)));
    return fields.some((field) => hasKey(field.value, apiKey, depth - 1));
  } catch {
    // A proxy can throw, and nobody can look into it.
    return true;
  }
}
