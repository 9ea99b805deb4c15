/** `GET /health`: shows that the worker is running, and its version. Needs no key and no I/O. */
import { Hono } from 'hono';
import type { AppEnv } from '../context.ts';
import { validateSearch } from '../http/validate.ts';

export const health = new Hono<AppEnv>();

health.get('/health', (c) => {
  // Strict, as every path.
  validateSearch(c, { acceptsParameters: false });
  const { ENVIRONMENT: environment, CF_VERSION_METADATA: version } = c.env;
  return c.json({ status: 'ok', environment, version: version.id });
});
