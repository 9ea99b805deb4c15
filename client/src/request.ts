/** Turns a call into a request. */
import type { Client, Returns } from './attempt.ts';
import { checkInt64Fields, stringifyJson } from './json.ts';
import { checkRequestOptions, given, isText, must } from './options.ts';
import { send } from './send.ts';
import type { Method, Reply, RequestOptions } from './types.ts';
import { VERSION } from './version.ts';

const METHODS: Method[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];

/** They belong to the connection: `fetch` rejects them, or replaces them. */
const CONNECTION_HEADERS =
  'connection content-length expect keep-alive transfer-encoding upgrade'.split(' ');

type Details = {
  /** The parameter of the route. */
  id?: bigint;
  /** Default: whether HTTP calls the method idempotent, or it is a POST, which carries an Idempotency-Key. */
  isRepeatable?: boolean;
  returns?: Returns;
};

/** @throws StoreError, or a TypeError about an argument */
export async function request<T>(
  client: Client,
  method: Method,
  route: string,
  options: RequestOptions = {},
  { id, isRepeatable = method !== 'PATCH', returns = 'object' }: Details = {},
): Promise<Reply<T>> {
  const { body } = options;
  // `fetch` sends `post` as POST, which would be repeated without an Idempotency-Key.
  must(METHODS.includes(method), 'method', `must be one of ${METHODS}`);
  // Otherwise the path could change the host, which gets the API key.
  must(isText(route, /^\//), 'path', 'must start with /');
  must(method !== 'GET' || body === undefined, 'body', 'must be undefined');
  checkRequestOptions(options);
  // The fields of other operations are not known.
  if (returns !== 'any') checkInt64Fields(Object(body));
  const path = route.replace(/{(\w+Id)}$/, (_, name) => {
    must(typeof id === 'bigint', name, 'must be a bigint, such as 7n');
    return String(id);
  });
  const outgoing = {
    method,
    url: client.baseUrl + path,
    headers: headersOf(client, method, options),
    body: body === undefined ? null : stringifyJson(body),
    returns,
    isRepeatable,
  };
  const signals = [options.signal, client.signal];
  return send({ ...client, ...given(options) }, outgoing, signals);
}

/** The headers, with names in lower case. @throws TypeError if a name or a value is invalid */
function headersOf(
  client: Client,
  method: Method,
  { headers, body, idempotencyKey }: RequestOptions,
) {
  // Browsers send a `User-Agent` of their own. The preflight of another would fail.
  const isBrowser = typeof navigator !== 'undefined' && navigator.userAgent?.startsWith('Mozilla/');
  const merged = new Headers(isBrowser ? {} : { 'user-agent': `animal-store-client/${VERSION}` });
  for (const [name, value] of Object.entries({ ...client.headers, ...headers }))
    merged.set(name, value);
  for (const name of CONNECTION_HEADERS) must(!merged.has(name), name, 'is not an option');
  if (body !== undefined) merged.set('content-type', 'application/json');
  if (method === 'POST') {
    // Not `crypto.randomUUID`, which is missing in pages that were loaded over http.
    const random = crypto.getRandomValues(new BigUint64Array(2)).join('-');
    const key = idempotencyKey ?? merged.get('idempotency-key') ?? random;
    merged.set('idempotency-key', key);
  }
  return Object.fromEntries(merged);
}
