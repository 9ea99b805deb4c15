/** `GET /health`: that the worker runs, and which version of it. No key, no I/O. */
import { Hono } from 'hono';
import type { AppEnv } from '../env.ts';
import { invalidRequest, NoQuery, validateQuery } from '../http/validate.ts';

export const health = new Hono<AppEnv>();

health.get('/health', (c) => {
  const problems = validateQuery(c, NoQuery);
  if (problems.length > 0) throw invalidRequest(problems);
  return c.json({
    status: 'ok',
    environment: c.env.ENVIRONMENT,
    version: c.env.CF_VERSION_METADATA.id,
  });
});
