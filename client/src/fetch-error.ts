/** What the errors of `fetch` and of an `apiKey` function show, in each runtime. */
import type { Failure } from './failure.ts';
import { hideKey } from './hide-key.ts';

/** In Node.js and Bun: no server listened, its name was not found, or it did not accept the connection in time. */
const NOT_CONNECTED = ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'UND_ERR_CONNECT_TIMEOUT'];

/** An error with nothing but texts. */
type Copy = Error & { code?: string; syscall?: string };

/**
 * The failure of an attempt without a complete response, or without a key.
 *
 * @param isForeign - whether a `fetch` that the user passed threw the error. It can have the key where nobody can look for it,
 *   for example in a `Request`: its cause is a copy.
 */
export function failureOf(error: unknown, apiKey: string | undefined, isForeign: boolean): Failure {
  const copies = copiesOf(error, (text) => (apiKey ? hideKey(text, apiKey) : text));
  const [copy, cause] = copies;
  // Node.js gives the reason, such as ECONNREFUSED, only in the cause.
  const beginning = apiKey ? 'The request failed' : 'The apiKey function failed';
  const parts = [beginning, copy?.message, cause?.code ?? cause?.message];
  const message = parts.filter(Boolean).join(': ');
  if (!apiKey) return { code: 'api_key_failed', message, cause: error };
  return {
    code: 'network_error',
    message,
    cause: isForeign || hasKey(error, apiKey) ? copy : error,
    // Deno has no code, only this text.
    isUnsent: copies.some(isOfConnecting) || message.includes(': client error (Connect)'),
  };
}

/** EHOSTUNREACH and ETIMEDOUT prove nothing without the `syscall`: they can also end a connection. */
function isOfConnecting({ code = '', syscall }: Copy) {
  return syscall === 'connect' || NOT_CONNECTED.includes(code);
}

/** Copies of the texts of an error, of its cause, and so on. */
function copiesOf(error: unknown, hide: (text: string) => string, depth = 4): Copy[] {
  if (depth === 0 || error === undefined || error === null) return [];
  try {
    const { message = error, name, code, syscall, cause, errors } = Object(error);
    // If a host has several addresses, Node.js has an error for each.
    const causes = copiesOf(cause ?? errors?.[0], hide, depth - 1);
    const copy = new Error('', causes[0] && { cause: causes[0] });
    for (const [field, value] of Object.entries({ message, name, code, syscall }))
      if (typeof value === 'string') Object.assign(copy, { [field]: hide(value) });
    return [copy, ...causes];
  } catch {
    // A getter can throw.
    return [new Error()];
  }
}

/** Whether a text in an error has the key: in its fields, in their fields, and so on. */
function hasKey(value: unknown, apiKey: string, depth = 4): boolean {
  if (typeof value === 'string') return value.includes(apiKey);
  // Bytes have a field for each.
  if (depth === 0 || ArrayBuffer.isView(value)) return false;
  try {
    const fields = Object.values(Object.getOwnPropertyDescriptors(Object(value)));
    return fields.some((field) => hasKey(field.value, apiKey, depth - 1));
  } catch {
    // A proxy can throw, and nobody can look into it.
    return true;
  }
}
