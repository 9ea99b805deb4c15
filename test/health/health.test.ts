import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { app } from '../../src/app.ts';

/** Neither KV, nor D1, nor a rate limiter. */
const ENV = { ENVIRONMENT: 'local', CF_VERSION_METADATA: { id: 'a version' } };

beforeEach(() => void vi.spyOn(console, 'log').mockReturnValue());
afterEach(() => void vi.restoreAllMocks());

test.each(['/health', '/v1/health'])('%s needs no key and no I/O', async (path) => {
  const response = await app.request(path, {}, ENV);
  expect(response.status).toBe(200);
  expect(await response.json()).toEqual({
    status: 'ok',
    environment: 'local',
    version: 'a version',
  });
  expect(response.headers.get('Cache-Control')).toBe('no-store');
  const [line = ''] = vi.mocked(console.log).mock.lastCall ?? [];
  expect(JSON.parse(line)).toMatchObject({ operation: 'getHealth', route: path, status: 200 });
});

test.each([
  ['X-D1-Bookmark', 'first'],
  ['If-Match', '*'],
  ['Idempotency-Key', 'é'],
  ['Authorization', 'Bearer no-key'],
])('the health check ignores %s', async (name, value) => {
  const response = await app.request('/v1/health', { headers: { [name]: value } }, ENV);
  expect(response.status).toBe(200);
  expect(response.headers.get('X-D1-Bookmark')).toBeNull();
});
