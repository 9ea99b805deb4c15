/** Each middleware that sets headers copes by itself with a response that Hono has not made. */
import { Hono, type MiddlewareHandler } from 'hono';
import { requestId } from 'hono/request-id';
import { expect, test } from 'vitest';
import type { CreateEnv } from '../../src/context.ts';
import { sql } from '../../src/d1/sql.ts';
import { readIdempotencyKey } from '../../src/http/idempotency-key.ts';
import { openDatabase } from '../../src/http/open-database.ts';
import { crossOrigin } from '../../src/middleware/cross-origin.ts';
import { responseHeaders } from '../../src/middleware/response-headers.ts';
import { stubBindings } from '../support/stubs.ts';

test.each<[string, MiddlewareHandler]>([
  ['access-control-allow-origin', crossOrigin],
  ['x-content-type-options', responseHeaders],
  ['x-d1-bookmark', openDatabase({ operationId: 'listPets', scope: 'read' })],
  ['idempotency-replayed', readIdempotencyKey],
])('a redirect, whose headers are immutable, has %s', async (name, middleware) => {
  const app = new Hono<CreateEnv>();
  app.use(requestId({ headerName: '' }));
  app.use(middleware);
  app.get('/', async (c) => {
    Object.assign(c.get('once') ?? {}, { isReplay: true });
    await c.get('db')?.run(sql`SELECT 1`);
    return Response.redirect('https://animal-store.example/v1/pets', 307);
  });
  const { status, headers } = await app.request('/', {}, stubBindings());
  expect([status, headers.get('location')]).toEqual([307, 'https://animal-store.example/v1/pets']);
  expect(headers.has(name)).toBe(true);
});
