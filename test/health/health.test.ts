import { afterEach, beforeEach, expect, type MockInstance, test, vi } from 'vitest';
import { app } from '../../src/app.ts';
import { errorOf } from '../support/contract.ts';

/** Neither KV, nor D1, nor a rate limiter. */
const ENV = { ENVIRONMENT: 'local', CF_VERSION_METADATA: { id: 'a version' } };

let log: MockInstance<typeof console.log>;
beforeEach(() => {
  log = vi.spyOn(console, 'log').mockReturnValue();
});
afterEach(() => log.mockRestore());

test.each(['/health', '/v1/health'])('%s needs no key and no I/O', async (path) => {
  const response = await app.request(path, {}, ENV);
  expect(response.status).toBe(200);
  expect(await response.json()).toEqual({
    status: 'ok',
    environment: 'local',
    version: 'a version',
  });
  expect(response.headers.get('Cache-Control')).toBe('no-store');
  const [line = ''] = log.mock.lastCall ?? [];
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

test('the health check rejects an unknown parameter', async () => {
  const response = await app.request('/v1/health?verbose=1', {}, ENV);
  expect(errorOf(await response.json())).toBe(
    '400 invalid_request: verbose: is not a known parameter',
  );
  expect(response.headers.get('Cache-Control')).toBe('no-store');
});
