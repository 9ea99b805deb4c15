/** GET /v1/health: getHealth. Also `/health`, for monitors. */
import { expect, test } from 'vitest';
import { app } from '../../src/app.ts';
import { stopTime } from '../support/in-process.ts';

/** Neither KV, nor D1, nor a rate limiter. */
const ENV = { ENVIRONMENT: 'staging', CF_VERSION_METADATA: { id: 'a version' } };

test.each(['/health', '/v1/health'])('%s needs no key and no I/O', async (path) => {
  const logLines = stopTime();
  const response = await app.request(`https://store.example${path}`, {}, ENV);
  const environment = 'staging';
  expect(await response.json()).toEqual({ status: 'ok', environment, version: 'a version' });
  const line = { environment, operation: 'getHealth', route: path, status: 200 };
  expect(logLines()).toMatchObject([line]);
});
