/**
 * Rate limits. Cloudflare's limiter is approximate, counts in each Cloudflare location separately, and returns no
 * remaining count, so responses carry none.
 * https://developers.cloudflare.com/workers/runtime-apis/bindings/rate-limit/
 */
import type { Context } from 'hono';
import type { AppEnv, Client } from '../context.ts';
import { withDeadline } from '../deadline.ts';
import type { Scope } from '../definition.ts';
import { ApiError } from '../errors.ts';

/** `period` of every limiter in wrangler.toml, in seconds: the maximum wait for a new window. */
export const PERIOD_S = 10;
/** Deadline of a limiter, in milliseconds. It runs on the same machine as the worker. */
const LIMITER_DEADLINE_MS = 500;

type Limiter = 'RATE_LIMITER' | 'WRITE_RATE_LIMITER';

/**
 * Counts a request of an API key against its budget, and a write also against the smaller budget for writes.
 *
 * @throws ApiError 429 when a budget is exhausted.
 */
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
 * Whether the budget of a key allows the request. A key that replaces another has a budget of its own, so that requests with the
 * old key, such as those of a thief, cannot use it up. A limiter that fails allows the request: an unlimited service is better
 * than none.
 */
async function isAllowed(c: Context<AppEnv>, limiter: Limiter, keyId: string): Promise<boolean> {
  try {
    const counting = c.env[limiter].limit({ key: keyId });
    const { success } = await withDeadline(counting, LIMITER_DEADLINE_MS, 'The rate limiter');
    return success;
  } catch (error) {
    const log = c.get('log');
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
