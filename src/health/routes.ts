/** `GET /health`: shows that the worker is running, and its version. Needs no key and no I/O. */
import { zValidator } from '@hono/zod-validator';
import { Hono } from 'hono';
import { createMiddleware } from 'hono/factory';
import type { AppEnv } from '../context.ts';
import { requireValid } from '../http/problems.ts';
import { requireValidQueryText } from '../http/query.ts';
import { NoParameters } from '../http/schemas.ts';

export const health = new Hono<AppEnv>();

const requireQueryText = createMiddleware(async ({ req }, next) => {
  requireValidQueryText(req);
  await next();
});

health.get('/health', requireQueryText, zValidator('query', NoParameters, requireValid), (c) =>
  c.json({
    status: 'ok',
    environment: c.env.ENVIRONMENT,
    version: c.env.CF_VERSION_METADATA.id,
  }),
);
