/**
 * Cloudflare's limiter is approximate, counts per location, and returns no remaining count:
 * https://developers.cloudflare.com/workers/runtime-apis/bindings/rate-limit/
 */
import type { Context } from 'hono';
import { type AppEnv, type Client, logOf } from '../context.ts';
import { withDeadline } from '../deadline.ts';
import { ApiError } from '../errors.ts';
import type { Scope } from '../operation/definition.ts';

/** `period` of every limiter in wrangler.toml, in seconds. */
export const PERIOD_S = 10;
const LIMITER_DEADLINE_MS = 500;

type Limiter = 'RATE_LIMITER' | 'WRITE_RATE_LIMITER';

/** @throws ApiError 429 when the budget of the key, or its smaller one for writes, is exhausted. */
export async function limitRate(
  c: Context<AppEnv>,
  { keyId }: Client,
  scope: Scope,
): Promise<void> {
  const limiters: Limiter[] = ['RATE_LIMITER'];
  if (scope === 'write') limiters.push('WRITE_RATE_LIMITER');
  const allowed = await Promise.all(limiters.map((limiter) => isAllowed(c, limiter, keyId)));
  if (allowed.includes(false)) throw rateLimited();
}

/**
 * A limiter that fails allows the request. A rotated key has a budget of its own, which a thief of
 * the old one cannot use up.
 */
async function isAllowed(c: Context<AppEnv>, limiter: Limiter, keyId: string): Promise<boolean> {
  try {
    const counting = c.env[limiter].limit({ key: keyId });
    const { success } = await withDeadline(counting, LIMITER_DEADLINE_MS, 'The rate limiter');
    return success;
  } catch (error) {
    const log = logOf(c);
    log.limiterFailures ??= [];
    log.limiterFailures.push(`${limiter}: ${error}`);
    return true;
  }
}

export function rateLimited(): ApiError {
  return new ApiError('rate_limited', 'Too many requests. Retry after the delay in Retry-After.', {
    headers: { 'Retry-After': String(PERIOD_S) },
  });
}
