/** Exceptions of Hono's own middleware become Error bodies. */
import { Hono } from 'hono';
import { csrf } from 'hono/csrf';
import { HTTPException } from 'hono/http-exception';
import { timeout } from 'hono/timeout';
import { expect, test } from 'vitest';
import type { AppEnv } from '../src/context.ts';
import { errorResponse } from '../src/error-response.ts';
import { accessLog } from '../src/middleware/access-log.ts';
import { pets } from '../src/pets/routes.ts';
import { stopTime } from './support/in-process.ts';
import { sendInProcess, stubBindings } from './support/stubs.ts';

const app = new Hono<AppEnv>();
app.use(accessLog);
app.use('/csrf', csrf());
app.use('/teapot', async (_c, _next) => {
  throw new HTTPException(418, { message: 'I brew tea', cause: new Error('a token') });
});
for (const status of [500, 501] as const)
  app.use(`/${status}`, async (_c, _next) => {
    throw new HTTPException(status, { message: 'a token' });
  });
app.use('/v1/*', timeout(1));
app.route('/v1', pets);
app.post('/:path', (c) => c.text(''));
app.onError(errorResponse);

const DOWN = 'The database is temporarily unavailable.';
const HIDDEN = 'Internal server error. Quote the X-Request-Id header when you report it.';

// The cause may contain a credential.
test.each([
  { path: '/csrf', status: 403, code: 'invalid_request', message: 'The request was rejected.' },
  { path: '/teapot', status: 418, code: 'invalid_request', message: 'I brew tea' },
  { path: '/500', status: 500, code: 'internal_error', message: HIDDEN, cause: 'a token' },
  { path: '/501', status: 503, code: 'service_unavailable', message: DOWN, cause: 'a token' },
])('an exception on $path is an Error body with its status', async ({ path, cause, ...error }) => {
  const logLines = stopTime();
  const body = new FormData();
  const response = await app.request(path, { method: 'POST', body }, stubBindings());
  expect(response.status).toBe(error.status);
  expect(await response.json()).toEqual(error);
  const { code, status } = error;
  expect(logLines()).toMatchObject([{ code, status, route: '/:path' }]);
  expect(logLines()[0]?.cause).toBe(cause);
});

test('a write that runs into a timeout of Hono is a 503, as its handler goes on', async () => {
  const logLines = stopTime();
  const hangs = stubBindings((binding, value) =>
    binding === 'KV' ? Promise.resolve(value) : new Promise(() => {}),
  );
  const call = { path: '/v1/pets', method: 'POST', body: '{"name":"Rex","categoryId":1}' };
  const response = await sendInProcess(call, hangs, { to: app });
  expect(response.headers.get('retry-after')).toBe('5');
  const message =
    'The database did not respond. It is unknown whether the animal was added. Check before you retry. To make retries safe, send an Idempotency-Key with the first request.';
  expect(await response.json()).toEqual({ code: 'service_unavailable', message, status: 503 });
  expect(logLines()).toMatchObject([{ status: 503, cause: 'Gateway Timeout' }]);
});

test('something thrown that is no Error is a 500 with a line', async () => {
  const logLines = stopTime();
  const bindings = stubBindings();
  bindings.DB.withSession = () => {
    throw 'a text';
  };
  const response = await sendInProcess({ path: '/v1/pets' }, bindings);
  expect(response.headers.has('x-request-id')).toBe(true);
  expect(logLines()).toMatchObject([{ status: 500, code: 'internal_error', cause: 'a text' }]);
});
