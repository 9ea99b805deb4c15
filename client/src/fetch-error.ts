/** Failures without a complete response, from the errors of `fetch` and of the `apiKey` function. */
import type { StoreErrorDetails } from './error.ts';
import { hideKey } from './hide-key.ts';
import type { Failure } from './response.ts';

/**
 * Codes of Node.js: no server listened, the host name was not resolved, no connection was made in time, or the client refused the server's
 * certificate, such as CERT_HAS_EXPIRED or UNABLE_TO_VERIFY_LEAF_SIGNATURE (https://nodejs.org/api/tls.html). Not …ALERT_BAD_CERTIFICATE: it
 * is from the server, which may send it later.
 */
const NOT_CONNECTED = /ECONNREFUSED|ENOTFOUND|EAI_AGAIN|UND_ERR_CONNECT_TIMEOUT|CERT_|CERT$|_LEAF_/;

/** A copy of an error has only these fields, and a copy of the cause. Other fields, such as a `Request`, could show the key. */
const COPIED_FIELDS = ['name', 'message', 'code', 'syscall', 'stack'];

type Copy = Error & { code?: string; syscall?: string };

/**
 * @param sentKey - if it is absent, the `apiKey` function failed, and nothing was sent
 * @param head - of the response, if there was one
 * @throws the error, if a framework threw it in `fetch` or `apiKey` to leave the caller's code, for example to redirect
 */
export function failureOf(error: unknown, sentKey = '', head?: StoreErrorDetails): Failure {
  // Next.js throws an error with a `digest`. SvelteKit and React Router throw an object with a `status` that is not an error.
  if (read(error, error instanceof Error ? 'digest' : 'status')) throw error;
  const copies = copiesOf(error, sentKey);
  const [cause, causeOfCause] = copies;
  // Node.js gives the reason, such as ECONNREFUSED, only in the cause of its error.
  const reasons = [cause?.message, causeOfCause?.code ?? causeOfCause?.message].filter(Boolean);
  if (!sentKey) {
    const message = ['The apiKey function failed', ...reasons].join(': ');
    return { code: 'api_key_failed', message, cause };
  }
  return {
    ...head,
    code: 'network_error',
    message: ['The request failed', ...reasons].join(': '),
    cause,
    // Only a cause proves that nothing was sent: Node.js reports a failed connection there. In Bun and Deno, a failed connection
    // proves nothing: after losing a connection, they can send the request again on a new one, which then fails.
    isUnsent: !head && copies.slice(1).some(failedToConnect),
  };
}

/**
 * Whether there was no connection. EHOSTUNREACH and ETIMEDOUT can also end a connection: only with the `syscall` `connect` do they
 * prove that there was none.
 */
function failedToConnect({ code = '', syscall }: Copy) {
  return syscall === 'connect' || NOT_CONNECTED.test(code);
}

/** Copies of an error, of its cause, and so on, down to the fourth. */
function copiesOf(error: unknown, apiKey: string, depth = 4): Copy[] {
  if (depth === 0 || error == null) return [];
  // If a host has several addresses, Node.js has an error for each. The first one stands for all.
  const cause = read(error, 'cause') ?? read(read(error, 'errors'), '0');
  const causes = copiesOf(cause, apiKey, depth - 1);
  const copy = new Error('', causes[0] && { cause: causes[0] });
  // A text that was thrown is its own message.
  const fields = typeof error === 'string' ? { message: error } : error;
  for (const name of COPIED_FIELDS) {
    const text = read(fields, name);
    if (typeof text === 'string') Reflect.set(copy, name, hideKey(text, apiKey));
  }
  return [copy, ...causes];
}

/** A getter can throw: its field then counts as absent. */
function read(value: unknown, field: string): unknown {
  try {
    return Object(value)[field];
  } catch {
    return undefined;
  }
}
