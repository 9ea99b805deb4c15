/** Turns the arguments of a method into a request, and sends it. */
import { within } from './deadline.ts';
import { stringifyJson } from './json.ts';
import { type Client, checkInt64Fields, readLimits, withoutNull } from './options.ts';
import type { BodyType, Reply } from './response.ts';
import { send } from './send.ts';
import type { CreateOptions } from './types.ts';

/** The ids in a route, by their names, such as `petId`. */
export type Ids = Record<`${string}Id`, bigint>;

/** The parts of an operation besides its method and route. */
type Operation = Ids & {
  body?: object;
  /** That of a successful response. Default: `object`. */
  bodyType?: BodyType;
  /** Default: true, except for PATCH. A POST is safe to retry, because it has an Idempotency-Key. */
  isRetryable?: boolean;
};

/** @throws StoreError, or a TypeError about an argument */
export async function request<T>(
  client: Client,
  method: string,
  route: string,
  givenOptions?: CreateOptions,
  { body, bodyType = 'object', isRetryable = method !== 'PATCH', ...ids }: Operation = {},
): Promise<Reply<T>> {
  const options: CreateOptions = withoutNull(givenOptions);
  const limits = readLimits(options, method);
  checkInt64Fields(ids);
  checkInt64Fields(withoutNull(body));
  const headers = new Headers(client.headers ?? {});
  for (const [name, value] of Object.entries(options.headers ?? {})) headers.set(name, value);
  if (method === 'POST') {
    // Not `crypto.randomUUID`, which is missing in pages that were loaded over http.
    const randomKey = crypto.getRandomValues(new BigUint64Array(2)).join('-');
    // A caller may also have set the key as a header.
    const fallback = headers.get('idempotency-key') ?? randomKey;
    headers.set('idempotency-key', options.idempotencyKey ?? fallback);
  }
  if (body) headers.set('content-type', 'application/json');
  const outgoing = {
    method,
    url: client.baseUrl + route.replace(/{(\w+)}/g, (_, name: keyof Ids) => String(ids[name])),
    headers: Object.fromEntries(headers),
    body: body ? stringifyJson(body) : null,
    bodyType,
    isRetryable,
  };
  const clientOfCall = { ...client, ...limits };
  return within(clientOfCall.deadlineMs, [options.signal, client.signal], (signal) =>
    send<T>(clientOfCall, outgoing, signal),
  );
}
