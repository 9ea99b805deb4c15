/** The CORS headers of a response that a handler has not made with Hono. */
import { Hono } from 'hono';
import { expect, test } from 'vitest';
import type { AppEnv } from '../../src/context.ts';
import { crossOrigin } from '../../src/middleware/cross-origin.ts';

test('a redirect, whose headers are immutable, has them, too', async () => {
  const app = new Hono<AppEnv>();
  app.use(crossOrigin);
  app.get('/', () => Response.redirect('https://animal-store.example/v1/pets', 307));
  const { status, headers } = await app.request('/');
  expect([status, headers.get('location')]).toEqual([307, 'https://animal-store.example/v1/pets']);
  expect(headers.get('access-control-allow-origin')).toBe('*');
});
