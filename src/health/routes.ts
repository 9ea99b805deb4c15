/** `GET /health`: shows that the worker is running, and its version. Needs no key and no I/O. */
import { Hono } from 'hono';
import type { AppEnv } from '../context.ts';
import { requireNoParameters, requireValidQueryText } from '../http/query.ts';

export const health = new Hono<AppEnv>();

health.get('/health', requireValidQueryText, requireNoParameters, (c) =>
  c.json({
    status: 'ok',
    environment: c.env.ENVIRONMENT,
    version: c.env.CF_VERSION_METADATA.id,
  }),
);
