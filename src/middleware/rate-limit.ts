/**
 * Rate limits, by Cloudflare's limiter: approximate, and counted in each Cloudflare location apart. It
 * tells no remaining count, so neither do we.
 * https://developers.cloudflare.com/workers/runtime-apis/bindings/rate-limit/
 */
import type { Context } from 'hono';
import { createMiddleware } from 'hono/factory';
import { withDeadline } from '../deadline.ts';
import type { AppEnv } from '../env.ts';
import { ApiError } from '../errors.ts';

/** `period` of every limiter in wrangler.toml, in seconds: by then the window is a new one. */
export const PERIOD_S = 10;
/** It answers from the same machine: if not by then, it does not answer. */
const LIMITER_DEADLINE_MS = 500;

/** Takes one from the budget of the API key. To run after `authenticate`. */
export const rateLimit = createMiddleware<AppEnv>(async function rateLimit(c, next) {
  await spend(c, 'RATE_LIMITER', c.get('keyId'));
  await next();
});

/**
 * Takes one from the budget of the client's address: what stands between guessed keys and the bill for
 * reading KV.
 *
 * @throws ApiError 429 when the budget is spent.
 */
export async function limitAddress(c: Context<AppEnv>): Promise<void> {
  await spend(c, 'ADDRESS_RATE_LIMITER', network(c.req.header('CF-Connecting-IP') ?? ''));
}

type Limiter = 'RATE_LIMITER' | 'ADDRESS_RATE_LIMITER';

async function spend(c: Context<AppEnv>, limiter: Limiter, key: string): Promise<void> {
  let success = true;
  try {
    const limiting = c.env[limiter].limit({ key });
    ({ success } = await withDeadline(limiting, LIMITER_DEADLINE_MS, 'The rate limiter'));
  } catch (error) {
    // Better an unlimited service than none.
    const log = c.get('log');
    log.limiterFailures = [...(log.limiterFailures ?? []), `${limiter}: ${error}`];
  }
  if (success) return;
  throw new ApiError('rate_limited', 'Too many requests. Wait, then go on more slowly.', {
    headers: { 'Retry-After': String(PERIOD_S) },
  });
}

/**
 * The address, or of an IPv6 address its /64: one subscriber has that many addresses (RFC 6177). IPv4
 * addresses written as IPv6 (RFC 4291, section 2.5.5.2) are taken for themselves.
 */
export function network(address: string): string {
  const mapped = /^::ffff:([0-9]+(?:\.[0-9]+){3})$/i.exec(address)?.[1];
  if (mapped || !URL.canParse(`http://[${address}]`)) return mapped ?? address;
  // The URL parser writes an address in one way only: lower case, no leading zeros, one `::`.
  const canonical = new URL(`http://[${address}]`).hostname.slice(1, -1);
  const [head = '', tail] = canonical.split('::');
  const groups = head === '' ? [] : head.split(':');
  if (tail !== undefined) {
    const last = tail === '' ? [] : tail.split(':');
    groups.push(...Array(8 - groups.length - last.length).fill('0'), ...last);
  }
  return `${groups.slice(0, 4).join(':')}::/64`;
}
