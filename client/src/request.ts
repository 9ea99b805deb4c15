/** Turns a call into a request. */
import type { Client, Operation } from './attempt.ts';
import { checkInt64Fields, stringifyJson } from './json.ts';
import { checkCallOptions, isText, must, withoutNull } from './options.ts';
import { send } from './send.ts';
import type { Call, CreateOptions, Method, Reply } from './types.ts';
import { VERSION } from './version.ts';

const METHODS: Method[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];

/** They belong to the connection: `fetch` rejects them, or replaces them. */
const CONNECTION_HEADERS = [
  'connection',
  'content-length',
  'expect',
  'keep-alive',
  'transfer-encoding',
  'upgrade',
];

/** Rejected with a StoreError, or with a TypeError about an argument. */
export function request<T>(...args: Parameters<typeof sendRequest>): Call<T> {
  return callOf(sendRequest<T>(...args));
}

export function callOf<T>(reply: Promise<Reply<T>>): Call<T> {
  const data = reply.then((received) => received.data);
  return Object.assign(data, {
    withMetadata() {
      // When the call fails both promises reject, and the caller handles only the returned one.
      data.catch(() => {});
      return reply;
    },
  });
}

async function sendRequest<T>(
  client: Client,
  method: Method,
  route: string,
  givenOptions: CreateOptions | undefined,
  { body, ...operation }: Operation & { body?: unknown } = {},
): Promise<Reply<T>> {
  const options: CreateOptions = withoutNull(givenOptions);
  // `fetch` sends `post` as POST, which would be retried without an Idempotency-Key.
  must(METHODS.includes(method), 'method', `must be one of ${METHODS}`);
  // Otherwise the path could change the host, which gets the API key.
  must(isText(route, /^\//), 'path', 'must start with /');
  must(method !== 'GET' || body === undefined, 'body', 'is not an option');
  const limits = checkCallOptions(options, method);
  // `any`: a call of `store.request`, whose fields the client does not know.
  if (operation.returns !== 'any') checkInt64Fields(Object(body));
  const path = route.replace(/{(\w+Id)}$/, (_, name) => {
    must(typeof operation.id === 'bigint', name, 'must be a bigint, such as 7n');
    return String(operation.id);
  });
  const headers = headersOf(client, method, options);
  if (body !== undefined) headers.set('content-type', 'application/json');
  const outgoing = {
    ...operation,
    method,
    url: client.baseUrl + path,
    headers: Object.fromEntries(headers),
    body: body === undefined ? null : stringifyJson(body),
  };
  return send({ ...client, ...limits }, outgoing, [options.signal, client.signal]);
}

/** @throws TypeError if a name or a value is invalid */
function headersOf(client: Client, method: Method, { headers, idempotencyKey }: CreateOptions) {
  // Browsers send a `User-Agent` of their own. The store does not allow pages to send another: the preflight would fail.
  const isBrowser = typeof navigator !== 'undefined' && navigator.userAgent?.startsWith('Mozilla/');
  const merged = new Headers(isBrowser ? {} : { 'user-agent': `animal-store-client/${VERSION}` });
  for (const [name, value] of Object.entries({ ...client.headers, ...headers }))
    merged.set(name, value);
  for (const name of CONNECTION_HEADERS) must(!merged.has(name), name, 'is not an option');
  if (method === 'POST') {
    // Not `crypto.randomUUID`, which is missing in pages that were loaded over http.
    const random = crypto.getRandomValues(new BigUint64Array(2)).join('-');
    const key = idempotencyKey ?? merged.get('idempotency-key') ?? random;
    merged.set('idempotency-key', key);
  }
  return merged;
}
