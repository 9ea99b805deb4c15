import type { MiddlewareHandler } from 'hono';
import type { AppEnv, Client } from '../context.ts';
import { serviceUnavailable } from '../errors.ts';
import type { Scope } from '../operation/definition.ts';
import { authenticate, insufficientScope } from './authenticate.ts';
import { limitRate } from './rate-limit.ts';

/**
 * Requires an API key with the scope, counts the request, and rejects writes while they are
 * stopped. A 401 does not count towards the rate limits.
 *
 * @example
 * app.use('/admin/*', requireKey('write'));
 */
export function requireKey(
  scope: Scope,
): MiddlewareHandler<AppEnv & { Variables: { client: Client } }>;
export function requireKey(scope: Scope): MiddlewareHandler {
  return async function requireKey(c, next) {
    const client = await authenticate(c);
    await limitRate(c, client, scope);
    if (!client.scopes.includes(scope)) throw insufficientScope(scope);
    if (scope === 'write' && c.env.WRITES_STOPPED !== undefined)
      throw serviceUnavailable('Writes are temporarily stopped; reads still work. Retry later.');
    await next();
  };
}
