/** `GET /health`: shows that the worker is running, and its version. Needs no key and no I/O. */
import { Hono } from 'hono';
import type { AppEnv } from '../env.ts';
import { invalidRequest, NoQuery, queryProblems } from '../http/validate.ts';

export const health = new Hono<AppEnv>();

health.get('/health', (c) => {
  const problems = queryProblems(c, NoQuery());
  if (problems.length > 0) throw invalidRequest(problems);
  const { ENVIRONMENT: environment, CF_VERSION_METADATA: version } = c.env;
  return c.json({ status: 'ok', environment, version: version.id });
});
