/** `GET /health`: shows that the worker is running, and its version. Needs no key and no I/O. */
import { respond } from '../http/responses.ts';
import { invalidRequest, NoQuery, validateQuery } from '../http/validate.ts';
import { createRouter } from '../router.ts';

export const health = createRouter();

health.get('/health', (c) => {
  const problems = validateQuery(c, NoQuery());
  if (problems.length > 0) throw invalidRequest(problems);
  const { ENVIRONMENT: environment, CF_VERSION_METADATA: version } = c.env;
  return respond(c, 200, JSON.stringify({ status: 'ok', environment, version: version.id }));
});
