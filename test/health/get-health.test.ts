/** GET /v1/health: getHealth. Also `/health`, for monitors. */
import { expect, test } from 'vitest';
import { app } from '../../src/app.ts';
import { stopTime } from '../support/in-process.ts';
import { readReply } from '../support/store.ts';

const version = '0b0c2f0e-5a0e-4c57-9d4a-3f1d3c1f7a11';

test.each([
  ['/health', 'production'],
  ['/v1/health', 'staging'],
])('%s needs no key and no I/O', async (path, environment) => {
  const logLines = stopTime();
  // Neither KV, nor D1, nor a rate limiter.
  const env = { ENVIRONMENT: environment, CF_VERSION_METADATA: { id: version } };
  const response = await app.request(`https://store.example${path}`, {}, env);
  // As described.
  const { body } = await readReply('GET', path, response);
  expect(body).toEqual({ status: 'ok', environment, version });
  const line = { environment, operation: 'getHealth', route: path, status: 200 };
  expect(logLines()).toMatchObject([line]);
});
