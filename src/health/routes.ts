/** `GET /health`: shows that the worker is running, and its version. Needs no key and no I/O. */
import { Hono } from 'hono';
import type { AppEnv } from '../context.ts';
import { requireNoParameters, requireValidQueryText } from '../http/query.ts';

export const health = new Hono<AppEnv>();

health.get('/health', requireValidQueryText, requireNoParameters, (c) => {
  const { ENVIRONMENT: environment, CF_VERSION_METADATA: version } = c.env;
  return c.json({ status: 'ok', environment, version: version.id });
});
