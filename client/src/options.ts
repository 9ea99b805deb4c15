/** Checks of options and arguments: a mistake is a TypeError that names it. */
import type { CallOptions, RequestOptions, StoreOptions } from './types.ts';

export const DEFAULT_LIMITS = { deadlineMs: 60_000, attemptTimeoutMs: 15_000, maxAttempts: 4 };

const LOCAL_HOST = /(^|\.)localhost$|^127(\.\d+){3}$|^\[::1]$/;

/** @throws TypeError */
export function checkStoreOptions({ baseUrl, apiKey, fetch, ...others }: StoreOptions): void {
  must(
    isBaseUrl(baseUrl),
    'baseUrl',
    'must be https: (http: only for localhost), without user name, query and fragment',
  );
  if (typeof apiKey !== 'function') checkToken('apiKey', apiKey);
  must(fetch === undefined || typeof fetch === 'function', 'fetch', 'must be a function');
  checkCallOptions(others);
}

function isBaseUrl(text: string) {
  if (!isText(text, /^[^\s@?#]+$/) || !URL.canParse(text)) return false;
  const { protocol, hostname } = new URL(text);
  return protocol === 'https:' || (protocol === 'http:' && LOCAL_HOST.test(hostname));
}

/** @throws TypeError */
export function checkRequestOptions({ body, idempotencyKey, ...others }: RequestOptions): void {
  const isValid = idempotencyKey === undefined || isText(idempotencyKey, /^[ -~]{1,255}$/);
  must(isValid, 'idempotencyKey', 'must be 1 to 255 characters of printable ASCII');
  checkCallOptions(others);
}

/** `Headers` rejects another text as well, but its error message contains the key. @throws TypeError */
export function checkToken(name: string, token: unknown): void {
  must(isText(token, /^[!-~]+$/), name, 'must be printable ASCII without spaces');
}

function checkCallOptions({ signal, headers = {}, ...limits }: CallOptions) {
  const isSignal = typeof Object(signal).addEventListener === 'function';
  must(isSignal || signal === undefined, 'signal', 'must be an AbortSignal');
  // A `Headers`, a `Map` or an array: its headers are not properties, and would be lost.
  const isIterable = Symbol.iterator in Object(headers);
  const isTexts = Object.values(headers).every((value) => typeof value === 'string');
  must(isTexts && !isIterable, 'headers', 'must be a plain object of strings');
  for (const [name, value] of Object.entries(given(limits))) {
    must(Object.hasOwn(DEFAULT_LIMITS, name), name, 'is not an option');
    must(typeof value === 'number' && value > 0, name, 'must be a number above 0');
  }
}

/** @throws TypeError that names the option or argument, and what must hold */
export function must(holds: boolean, name: string, rule: string): void {
  if (!holds) throw new TypeError(`${name}: ${rule}`);
}

export function isText(value: unknown, pattern: RegExp): boolean {
  return typeof value === 'string' && pattern.test(value);
}

/** Without what is undefined: then the options of the client, and the defaults, hold. */
export function given(options: object): object {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
}
