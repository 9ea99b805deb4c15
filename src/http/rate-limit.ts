/**
 * Rate limits, by Cloudflare's limiter: approximate, and counted in each Cloudflare location separately.
 * The limiter returns no remaining count, so responses show none.
 * https://developers.cloudflare.com/workers/runtime-apis/bindings/rate-limit/
 */
import type { Context } from 'hono';
import { withDeadline } from '../deadline.ts';
import type { AppEnv } from '../env.ts';
import { ApiError } from '../errors.ts';
import type { Scope } from '../keys/record.ts';

/** `period` of every limiter in wrangler.toml, in seconds: the longest time until a new window. */
export const PERIOD_S = 10;
/** Deadline of a limiter, in milliseconds. It runs on the same machine as the worker. */
const LIMITER_DEADLINE_MS = 500;

/**
 * Spends one request of the API key's budget, and of its smaller budget for writes. Runs after
 * `authenticate`.
 *
 * @throws ApiError 429 when a budget is spent.
 */
export function limitRate(c: Context<AppEnv>, scope: Scope): Promise<void> {
  const keyId = c.get('key').id;
  const requests: Budget = ['RATE_LIMITER', keyId];
  return spend(c, scope === 'write' ? [requests, ['WRITE_RATE_LIMITER', keyId]] : [requests]);
}

/**
 * Spends one request of the budgets of the client's address, for a key that was refused: it bounds what
 * guessing costs. A valid key does not spend it, so a neighbour's guesses cannot lock the key out.
 *
 * @throws ApiError 429 when a budget is spent.
 */
export function limitAddress(c: Context<AppEnv>): Promise<void> {
  const networks = networksOf(c.req.header('CF-Connecting-IP') ?? '');
  return spend(
    c,
    networks.map((network) => ['ADDRESS_RATE_LIMITER', network]),
  );
}

/** A limiter, and the key that it counts by. */
type Budget = ['RATE_LIMITER' | 'WRITE_RATE_LIMITER' | 'ADDRESS_RATE_LIMITER', string];

async function spend(c: Context<AppEnv>, budgets: Budget[]): Promise<void> {
  const allowed = await Promise.all(budgets.map((budget) => isAllowed(c, budget)));
  if (!allowed.includes(false)) return;
  throw rateLimited();
}

export function rateLimited(): ApiError {
  return new ApiError('rate_limited', 'Too many requests. Retry after the delay in Retry-After.', {
    headers: { 'Retry-After': String(PERIOD_S) },
  });
}

async function isAllowed(c: Context<AppEnv>, [limiter, key]: Budget): Promise<boolean> {
  try {
    const limiting = c.env[limiter].limit({ key });
    return (await withDeadline(limiting, LIMITER_DEADLINE_MS, 'The rate limiter')).success;
  } catch (error) {
    // An unlimited service is better than none.
    const log = c.get('log');
    log.limiterFailures = [...(log.limiterFailures ?? []), `${limiter}: ${error}`];
    return true;
  }
}

/**
 * The networks whose budgets an address spends: an IPv4 address alone; an IPv6 address by its /64, which
 * is one subscriber's, and its /48, the largest block that one site gets (RFC 6177). An IPv4 address
 * written as IPv6 (RFC 4291, section 2.5.5.2) counts as IPv4.
 */
export function networksOf(address: string): string[] {
  const mapped = /^::ffff:([0-9]+(?:\.[0-9]+){3})$/i.exec(address)?.[1];
  if (mapped || !URL.canParse(`http://[${address}]`)) return [mapped ?? address];
  // The URL parser has one form for an address: lower case, no leading zeros, one `::`.
  const canonical = new URL(`http://[${address}]`).hostname.slice(1, -1);
  const [head = '', tail] = canonical.split('::');
  const groups = head === '' ? [] : head.split(':');
  if (tail !== undefined) {
    const last = tail === '' ? [] : tail.split(':');
    groups.push(...Array(8 - groups.length - last.length).fill('0'), ...last);
  }
  return [`${groups.slice(0, 4).join(':')}::/64`, `${groups.slice(0, 3).join(':')}::/48`];
}
