/** `GET /health`: shows that the worker is running, and its version. Needs no key and no I/O. */
import { Hono } from 'hono';
import type { AppEnv } from '../context.ts';
import { validateQueryText } from '../http/validate.ts';

export const health = new Hono<AppEnv>();

health.get('/health', (c) => {
  // Like the operations, it rejects unknown query parameters.
  validateQueryText(c, { acceptsParameters: false });
  const { ENVIRONMENT: environment, CF_VERSION_METADATA: version } = c.env;
  return c.json({ status: 'ok', environment, version: version.id });
});
