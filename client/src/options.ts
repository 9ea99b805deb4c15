/** Checks of options and arguments: a mistake is a TypeError that names it. */
import { INT64_FIELDS } from './description.ts';
import type { Session } from './session.ts';
import type { CreateOptions, StoreOptions } from './types.ts';

export const DEFAULT_LIMITS = {
  deadlineMs: 60_000,
  attemptTimeoutMs: 15_000,
  maxAttempts: 4,
};

/** The options with their defaults, and the session, if there is one. */
export type Client = StoreOptions & typeof DEFAULT_LIMITS & { session?: Session };

/** `http:` only for this machine: elsewhere, others could read the API key. No user name, query or fragment. */
const BASE_URL_PATTERN =
  /^(https:|http:\/\/(([\w-]+\.)*localhost|127(\.\d+){3}|\[::1\])(?=[:/]|$))[^\s@?#]*$/i;

/** @throws TypeError */
export function checkStoreOptions({
  baseUrl,
  apiKey,
  fetch,
  ...others
}: Partial<StoreOptions>): void {
  must(
    matches(baseUrl, BASE_URL_PATTERN) && URL.canParse(baseUrl),
    'baseUrl',
    'must be https: (http: only for localhost), without user, query, fragment',
  );
  if (typeof apiKey !== 'function') checkToken('apiKey', apiKey);
  must(fetch === undefined || typeof fetch === 'function', 'fetch', 'must be a function');
  // Only for its checks.
  readLimits(others);
}

/** Checks an API key, or the start of a session. Not left to `Headers`, whose message would contain the key. @throws TypeError */
export function checkToken(name: string, token: unknown): void {
  must(matches(token, /^[!-~]+$/), name, 'must be printable ASCII without spaces');
}

/** Checks the options of a call, and returns the limits among them. @throws TypeError */
export function readLimits(
  { signal, headers = {}, idempotencyKey, ...limits }: CreateOptions,
  method?: string,
): object {
  must(
    idempotencyKey === undefined ||
      (method === 'POST' && matches(idempotencyKey, /^(?! )[ -~]{0,254}[!-~]$/)),
    'idempotencyKey',
    'must be 1 to 255 printable ASCII characters without outer spaces, in a create',
  );
  must(signal === undefined || 'aborted' in Object(signal), 'signal', 'must be an AbortSignal');
  // The headers of a `Headers` or a `Map` are not properties, and would be lost. In an array, the names would be indexes.
  must(!(Symbol.iterator in Object(headers)), 'headers', 'must be a plain object of strings');
  // Not left to `Headers`, whose message would contain the value, which may be a secret.
  for (const [name, value] of Object.entries(headers))
    must(matches(value, /^[ -~]*$/), 'headers', `${name} must be printable ASCII`);
  for (const [name, value] of Object.entries(limits)) {
    must(Object.hasOwn(DEFAULT_LIMITS, name), name, 'is not an option');
    must(typeof value === 'number' && value > 0, name, 'must be a number above 0');
  }
  return limits;
}

/** Requires a bigint in int64 fields: JavaScript callers can pass numbers, which may have been rounded. @throws TypeError */
export function checkInt64Fields(fields: object): void {
  for (const [name, value] of Object.entries(fields))
    must(
      typeof value === 'bigint' || !INT64_FIELDS.includes(name),
      name,
      'must be a bigint, such as 7n',
    );
}

/** @throws TypeError that names the option or argument, and what must hold */
export function must(holds: boolean, name: string, rule: string): void {
  if (!holds) throw new TypeError(`${name}: ${rule}`);
}

export function matches(value: unknown, pattern: RegExp): value is string {
  return typeof value === 'string' && pattern.test(value);
}

/** Removes fields that are null or undefined, so that they do not replace the client's options or the defaults. */
export function withoutNull(options?: object): object {
  return Object.fromEntries(Object.entries(options ?? {}).filter(([, value]) => value != null));
}
