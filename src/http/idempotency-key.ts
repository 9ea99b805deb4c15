import type { Context, MiddlewareHandler } from 'hono';
import type { CreateEnv } from '../context.ts';
import type { KeyedRequest, Once } from '../idempotency/create-once.ts';
import { sha256 } from '../sha256.ts';
import { mutableHeaders } from './mutable-headers.ts';
import { idempotencyKeyOf } from './request-headers.ts';

type ValidParts = { out: { param?: object; query?: object; json?: object } };
type CreateContext = Context<CreateEnv, string, ValidParts>;

/** Sets `c.get('once')`, and says in the response whether it repeats that of an earlier request. */
export const readIdempotencyKey: MiddlewareHandler<CreateEnv, string, ValidParts> =
  async function readIdempotencyKey(c, next) {
    const once: Once = { request: await keyedRequest(c) };
    c.set('once', once);
    await next();
    // Otherwise, a retry would create twice.
    if (c.res.ok && !once.isUsed) throw new Error('the handler must call createOnce');
    if (once.isReplay) mutableHeaders(c).set('Idempotency-Replayed', 'true');
  };

async function keyedRequest(c: CreateContext): Promise<KeyedRequest | undefined> {
  const idempotencyKey = idempotencyKeyOf(c);
  if (idempotencyKey === undefined) return undefined;
  // The same key of another client or operation is another key.
  const key = [c.get('client').id, c.get('definition').operationId, idempotencyKey];
  // Validated: neither the order of the fields nor `01` for the id 1 makes another request.
  const request = [c.req.valid('param'), c.req.valid('query'), c.req.valid('json')];
  return {
    keyHash: await sha256(JSON.stringify(key)),
    requestHash: await sha256(JSON.stringify(request)),
    now: Date.now(),
  };
}
