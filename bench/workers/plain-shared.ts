/**
 * What plain-hono.ts and zod-openapi.ts share: API keys, scopes, rate limits and a log line, as the
 * store has them, and an idempotency middleware.
 */
import type { Context } from 'hono';
import { bearerAuth } from 'hono/bearer-auth';
import { bodyLimit } from 'hono/body-limit';
import { cors } from 'hono/cors';
import { createMiddleware } from 'hono/factory';
import { HTTPException } from 'hono/http-exception';
import { requestId } from 'hono/request-id';
import { routePath } from 'hono/route';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { type $ZodError, prettifyError } from 'zod/v4/core';

type KeyRecord = { id: string; scopes?: string[]; expiresAt?: string; revokedAt?: string };
export type AppEnv = { Bindings: Env; Variables: { requestId: string; apiKey: KeyRecord } };

export const fail = (status: ContentfulStatusCode, code: string, message: string) =>
  new HTTPException(status, { res: Response.json({ code, message, status }, { status }) });

/** A validator's hook. */
export function rejectInvalid(result: { success: boolean; error?: $ZodError }) {
  if (result.error) throw fail(400, 'invalid_request', prettifyError(result.error));
}

/** The records of API keys that were read in the last 30 s. */
const cache = new Map<string, { record: KeyRecord; until: number }>();

async function findRecord(token: string, { API_KEYS }: Env): Promise<KeyRecord | null> {
  const cached = cache.get(token);
  if (cached && cached.until > Date.now()) return cached.record;
  const hash = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(token));
  const name = `key:${new Uint8Array(hash).toHex()}`;
  const record = await API_KEYS.get<KeyRecord>(name, { type: 'json', cacheTtl: 30 });
  if (cache.size >= 5_000) cache.clear();
  if (record) cache.set(token, { record, until: Date.now() + 30_000 });
  return record;
}

const unauthorized = {
  message: { code: 'invalid_api_key', message: 'Send a valid API key.', status: 401 },
};

const authenticate = bearerAuth<AppEnv>({
  async verifyToken(token, c) {
    const record = await findRecord(token, c.env);
    if (!record || record.revokedAt) return false;
    if (record.expiresAt && Date.parse(record.expiresAt) <= Date.now()) return false;
    c.set('apiKey', record);
    return true;
  },
  noAuthenticationHeader: unauthorized,
  invalidToken: unauthorized,
});

const authorize = createMiddleware<AppEnv>(async (c, next) => {
  const { id: key, scopes = ['read', 'write'] } = c.get('apiKey');
  const isWrite = c.req.method !== 'GET';
  const limits = [c.env.RATE_LIMITER.limit({ key })];
  if (isWrite) limits.push(c.env.WRITE_RATE_LIMITER.limit({ key }));
  if ((await Promise.all(limits)).some(({ success }) => !success))
    throw fail(429, 'rate_limited', 'Too many requests.');
  if (!scopes.includes(isWrite ? 'write' : 'read'))
    throw fail(403, 'insufficient_scope', 'This API key lacks the scope.');
  await next();
});

const accessLog = createMiddleware<AppEnv>(async (c, next) => {
  const startedAt = Date.now();
  await next();
  console.log(
    JSON.stringify({
      time: new Date().toISOString(),
      requestId: c.get('requestId'),
      method: c.req.method,
      route: routePath(c, -1),
      status: c.res.status,
      durationMs: Date.now() - startedAt,
      keyId: c.get('apiKey')?.id,
      ray: c.req.header('CF-Ray'),
      colo: c.req.raw.cf?.colo,
      country: c.req.raw.cf?.country,
    }),
  );
});

/** Those of the store. `secureHeaders` would set more, and take longer. */
const responseHeaders = createMiddleware<AppEnv>(async (c, next) => {
  await next();
  c.res.headers.set('X-Content-Type-Options', 'nosniff');
  c.res.headers.set('Content-Security-Policy', "default-src 'none'; frame-ancestors 'none'");
  c.res.headers.set('Strict-Transport-Security', 'max-age=31536000');
  c.res.headers.set('Cache-Control', 'private, no-store');
});

/**
 * A short form of published idempotency middleware: it records a successful response, and sends it
 * again to a retry. It does not know the handler's statements, so the record and the row are not
 * written in one transaction. In `API_KEYS`, the only namespace here.
 */
const replay = createMiddleware<AppEnv>(async (c, next) => {
  const idempotencyKey = c.req.method === 'POST' && c.req.header('Idempotency-Key');
  if (!idempotencyKey) return next();
  const name = `${c.get('apiKey').id}:${c.req.path}:${idempotencyKey}`;
  const recorded = await c.env.API_KEYS.get(name);
  if (recorded) return c.body(recorded, 201, { 'Content-Type': 'application/json' });
  await next();
  const response = c.res.clone();
  if (response.ok) await c.env.API_KEYS.put(name, await response.text(), { expirationTtl: 86_400 });
  return undefined;
});

export const ofEveryRequest = [requestId(), accessLog, responseHeaders, cors()] as const;
export const ofVersion1 = [
  authenticate,
  authorize,
  bodyLimit({ maxSize: 16_384 }),
  replay,
] as const;

export function respondToError(error: Error): Response {
  if (error instanceof HTTPException) return error.getResponse();
  console.error(error);
  return fail(500, 'internal_error', 'Internal server error.').getResponse();
}

export type PetRow = {
  id: number;
  name: string;
  categoryId: number;
  status: 'available' | 'pending' | 'sold' | null;
};

export const toPet = ({ id, name, categoryId, status }: PetRow) =>
  status === null ? { id, name, categoryId } : { id, name, categoryId, status };

/** One row more than the limit was read. */
export function linkNextPage(c: Context, rows: PetRow[], limit: number): void {
  const last = rows[limit - 1];
  if (!last || rows.length === limit) return;
  const next = new URL(c.req.url);
  next.searchParams.set('after', `${last.id}`);
  c.header('Link', `<${next}>; rel="next"`);
}
