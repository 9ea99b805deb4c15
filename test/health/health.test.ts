import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { app } from '../../src/app.ts';

/** Neither KV, nor D1, nor a rate limiter. */
const ENV = { ENVIRONMENT: 'staging', CF_VERSION_METADATA: { id: 'a version' } };

beforeEach(() => void vi.spyOn(console, 'log').mockReturnValue());
afterEach(() => void vi.restoreAllMocks());

test.each(['/health', '/v1/health'])('%s needs no key and no I/O', async (path) => {
  const response = await app.request(`https://store.example${path}`, {}, ENV);
  const environment = 'staging';
  expect(await response.json()).toEqual({ status: 'ok', environment, version: 'a version' });
  const [line = ''] = vi.mocked(console.log).mock.lastCall ?? [];
  const logged = { environment, operation: 'getHealth', route: path, status: 200 };
  expect(JSON.parse(line)).toMatchObject(logged);
});

test('the health check ignores the headers of other operations', async () => {
  const headers = { authorization: 'Bearer no-key', 'x-d1-bookmark': 'first', 'if-match': '*' };
  const { status } = await app.request('https://store.example/v1/health', { headers }, ENV);
  expect(status).toBe(200);
});
