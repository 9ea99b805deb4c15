/** Turns a call into a request. */
import type { Client, Reply, Returns } from './attempt.ts';
import { requireBigInts, stringifyJson } from './json.ts';
import { checkRequestOptions, must, type RequestOptions } from './options.ts';
import { send } from './send.ts';
import { VERSION } from './version.ts';

/** Not HEAD, whose errors have no body. */
const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

/** The methods of HTTP that `request` accepts. */
export type Method = (typeof METHODS)[number];

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
  // In lower case, a POST would be repeated without an Idempotency-Key.
  must(METHODS.includes(method), `method: must be one of ${METHODS}`);
  checkRequestOptions(options);
  const { body } = options;
  requireBigInts(Object(body));
  // Otherwise the path could change the host, which gets the API key.
  must(route[0] === '/', 'path: must start with /');
  const path = route.replace(/{(\w+Id)}$/, (_, name) => {
    must(typeof id === 'bigint', `${name}: must be a bigint, such as 7n`);
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
  return send(client, outgoing, options);
}

function headersOf(
  { defaults }: Client,
  method: Method,
  options: RequestOptions,
): Record<string, string> {
  const headers = new Headers();
  // A browser sends its own, and its preflight would forbid another.
  if (typeof navigator === 'undefined' || !navigator.userAgent?.startsWith('Mozilla/'))
    headers.set('User-Agent', `animal-store-client/${VERSION}`);
  for (const [name, value] of Object.entries({ ...defaults.headers, ...options.headers }))
    headers.set(name, value);
  if (options.body !== undefined) headers.set('Content-Type', 'application/json');
  // `crypto.randomUUID` is missing in pages that were loaded over http.
  const random = crypto.getRandomValues(new BigUint64Array(2)).join('-');
  const idempotencyKey = options.idempotencyKey ?? headers.get('Idempotency-Key') ?? random;
  if (method === 'POST') headers.set('Idempotency-Key', idempotencyKey);
  return Object.fromEntries(headers);
}
