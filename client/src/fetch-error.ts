/** What the errors of `fetch` tell, in each runtime. */
import { StoreError } from './error.ts';
import type { Metadata } from './types.ts';

/** Stands for the key in errors, which end up in logs: a server can send the headers of the request back. */
export const HIDDEN = '<API key>';

/** Of Node.js and Bun: no server listened, or its name was not found. */
const NOT_CONNECTED = ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN'];

/** Whether there was no connection, so that nothing was sent. */
export function isNotConnected({ message, cause }: StoreError): boolean {
  // Deno has no code, only this text.
  if (message.includes(': client error (Connect)')) return true;
  try {
    const { code, cause: inner } = Object(cause);
    return NOT_CONNECTED.includes(code ?? inner?.code);
  } catch {
    return false;
  }
}

/** The error of an attempt that ended without a complete response, or without a key. */
export function errorOf(
  cause: unknown,
  apiKey: string | undefined,
  metadata: Metadata | undefined,
): StoreError {
  const text = messageOf(cause);
  if (apiKey === undefined) return new StoreError('api_key_failed', text, { cause });
  const message = text.replaceAll(apiKey, HIDDEN);
  const shown = hasKey(cause, apiKey) ? new Error(message) : cause;
  return new StoreError('network_error', message, { metadata, cause: shown });
}

function messageOf(error: unknown) {
  const failed = 'The request failed';
  try {
    const { message = error, cause } = Object(error);
    // Node.js gives the reason, such as ECONNREFUSED, only in the cause.
    return [failed, message, cause?.code ?? cause?.message].filter(Boolean).join(': ');
  } catch {
    // Anything can be thrown, also what is no text.
    return failed;
  }
}

/** Whether a text in an error has the key: in its fields, in their fields, and so on. */
function hasKey(value: unknown, apiKey: string, depth = 4): boolean {
  if (typeof value === 'string') return value.includes(apiKey);
  // Bytes have a field for each.
  if (depth === 0 || ArrayBuffer.isView(value)) return false;
  const fields = Object.values(Object.getOwnPropertyDescriptors(Object(value)));
  return fields.some((field) => hasKey(field.value, apiKey, depth - 1));
}
