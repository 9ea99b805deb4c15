/**
 * Rate limits. Cloudflare's limiter is approximate, counts in each Cloudflare location separately, and returns no
 * remaining count, so responses carry none.
 * https://developers.cloudflare.com/workers/runtime-apis/bindings/rate-limit/
 */
import type { Context } from 'hono';
import { withDeadline } from '../deadline.ts';
import type { Scope } from '../definition.ts';
import type { AppEnv } from '../env.ts';
import { ApiError } from '../errors.ts';

/** `period` of every limiter in wrangler.toml, in seconds: the maximum wait for a new window. */
export const PERIOD_S = 10;
/** Deadline of a limiter, in milliseconds. It runs on the same machine as the worker. */
const LIMITER_DEADLINE_MS = 500;

/**
 * Counts a request of an API key against its budget, and a write also against the smaller budget for writes. Runs
 * after `authenticate`.
 *
 * @throws ApiError 429 when a budget is exhausted.
 */
export function limitRate(c: Context<AppEnv>, scope: Scope): Promise<void> {
  const { keyId } = c.get('client');
  const requests: Budget = ['RATE_LIMITER', keyId];
  return consume(c, scope === 'write' ? [requests, ['WRITE_RATE_LIMITER', keyId]] : [requests]);
}

/**
 * Counts a request with a rejected key against the budgets of the client's address, which bounds how many keys it can
 * guess. Requests with a valid key do not use these budgets, so guesses from the same address cannot block them.
 *
 * @throws ApiError 429 when a budget is exhausted.
 */
export function limitAddress(c: Context<AppEnv>): Promise<void> {
  const networks = networksOf(c.req.header('CF-Connecting-IP') ?? '');
  return consume(
    c,
    networks.map((network) => ['ADDRESS_RATE_LIMITER', network]),
  );
}

/** A limiter and its key. */
type Budget = ['RATE_LIMITER' | 'WRITE_RATE_LIMITER' | 'ADDRESS_RATE_LIMITER', string];

/** One deadline covers all budgets of a request: each would need a timer of its own. */
async function consume(c: Context<AppEnv>, budgets: Budget[]): Promise<void> {
  try {
    const counting = Promise.all(budgets.map((budget) => count(c, budget)));
    await withDeadline(counting, LIMITER_DEADLINE_MS, 'The rate limiter');
  } catch (error) {
    if (error instanceof ApiError) throw error;
    logFailure(c, `${budgets.map(([limiter]) => limiter).join(', ')}: ${error}`);
  }
}

export function rateLimited(): ApiError {
  return new ApiError('rate_limited', 'Too many requests. Retry after the delay in Retry-After.', {
    headers: { 'Retry-After': String(PERIOD_S) },
  });
}

/** @throws ApiError 429 when the budget is exhausted. */
async function count(c: Context<AppEnv>, [limiter, key]: Budget): Promise<void> {
  let success = true;
  try {
    ({ success } = await c.env[limiter].limit({ key }));
  } catch (error) {
    logFailure(c, `${limiter}: ${error}`);
  }
  if (!success) throw rateLimited();
}

/** A limiter that fails lets the request through: an unlimited service is better than an unavailable one. */
function logFailure(c: Context<AppEnv>, failure: string): void {
  const log = c.get('log');
  log.limiterFailures = [...(log.limiterFailures ?? []), failure];
}

/**
 * The networks whose budgets an address uses: an IPv4 address itself; for IPv6 its /64, one subscriber, and its /48,
 * the largest block of one site (RFC 6177). An IPv4-mapped IPv6 address (RFC 4291, section 2.5.5.2) counts as IPv4.
 */
export function networksOf(address: string): string[] {
  const mapped = /^::ffff:([0-9]+(?:\.[0-9]+){3})$/i.exec(address)?.[1];
  if (mapped || !URL.canParse(`http://[${address}]`)) return [mapped ?? address];
  // The URL parser normalizes an address: lower case, no leading zeros, one `::`.
  const canonical = new URL(`http://[${address}]`).hostname.slice(1, -1);
  const [head = '', tail] = canonical.split('::');
  const groups = head === '' ? [] : head.split(':');
  if (tail !== undefined) {
    const last = tail === '' ? [] : tail.split(':');
    groups.push(...Array(8 - groups.length - last.length).fill('0'), ...last);
  }
  return [`${groups.slice(0, 4).join(':')}::/64`, `${groups.slice(0, 3).join(':')}::/48`];
}
