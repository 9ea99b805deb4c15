/** Turns the arguments of a method into a request. */
import type { Client } from './attempt.ts';
import { within } from './deadline.ts';
import { checkInt64Fields, stringifyJson } from './json.ts';
import { checkCallOptions, must, withoutNull } from './options.ts';
import type { Reply, Returns } from './response.ts';
import { send } from './send.ts';
import type { CreateOptions } from './types.ts';

/** The parts of an operation besides its method and route. */
type Operation = {
  /** The parameter of the route. */
  id?: bigint;
  body?: object;
  /** Default: `object`. */
  returns?: Returns;
  /** Default: every method but PATCH, because a POST has an Idempotency-Key. */
  isRetryable?: boolean;
};

/** Rejected with a StoreError, or with a TypeError about an argument. */
export async function request<T>(
  client: Client,
  method: string,
  route: string,
  givenOptions: CreateOptions | undefined,
  { id, body, returns = 'object', isRetryable = method !== 'PATCH' }: Operation = {},
): Promise<Reply<T>> {
  const options: CreateOptions = withoutNull(givenOptions);
  const limits = checkCallOptions(options, method);
  checkInt64Fields(Object(body));
  const path = route.replace(/{(\w+Id)}$/, (_, name) => {
    must(typeof id === 'bigint', name, 'must be a bigint, such as 7n');
    return String(id);
  });
  const headers = new Headers(client.headers ?? {});
  for (const [name, value] of Object.entries({ ...options.headers })) headers.set(name, value);
  if (method === 'POST') {
    // Not `crypto.randomUUID`, which is missing in pages that were loaded over http.
    const random = crypto.getRandomValues(new BigUint64Array(2)).join('-');
    // A caller may also have set the key as a header.
    const key = options.idempotencyKey ?? headers.get('idempotency-key') ?? random;
    headers.set('idempotency-key', key);
  }
  if (body) headers.set('content-type', 'application/json');
  const outgoing = {
    method,
    url: client.baseUrl + path,
    headers: Object.fromEntries(headers),
    body: body ? stringifyJson(body) : null,
    returns,
    isRetryable,
  };
  const limited = { ...client, ...limits };
  return within(limited.deadlineMs, [options.signal, client.signal], (signal) =>
    send<T>(limited, outgoing, signal),
  );
}
