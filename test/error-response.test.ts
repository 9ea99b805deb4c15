/** Exceptions of Hono's own middleware become Error bodies. */
import { Hono } from 'hono';
import { basicAuth } from 'hono/basic-auth';
import { HTTPException } from 'hono/http-exception';
import { timeout } from 'hono/timeout';
import { expect, test } from 'vitest';
import type { AppEnv } from '../src/context.ts';
import { errorResponse } from '../src/error-response.ts';
import { accessLog } from '../src/middleware/access-log.ts';
import { stopTime } from './support/in-process.ts';
import { stubBindings } from './support/stubs.ts';

const app = new Hono<AppEnv>();
app.use(accessLog);
app.use('/private', basicAuth({ username: 'ada', password: 'secret' }));
app.use('/teapot', async (_c, _next) => {
  throw new HTTPException(418, { cause: new Error('a token') });
});
app.use('/failed', async (_c, _next) => {
  throw new HTTPException(500, { message: 'an internal host' });
});
app.use('/slow', timeout(1));
app.use('/slow', async (c, next) => {
  const definition = { scope: 'write', effect: 'the animal was added', safeRetry: 'x.' };
  c.set('definition', { operationId: 'x', ...definition } as never);
  await new Promise(() => {});
  await next();
});
app.post('/:path', (c) => c.text(''));
app.onError(errorResponse);

const PRIVATE = { 'www-authenticate': 'Basic realm="Secure Area"' };

test.each([
  { path: '/private', status: 401, message: 'Unauthorized', headers: PRIVATE },
  { path: '/teapot', status: 418, message: 'The request was rejected.' },
])('an exception on $path is an Error body with its status, text and headers', async (each) => {
  const logLines = stopTime();
  const { path, headers = {}, ...error } = each;
  const body = new FormData();
  const response = await app.request(path, { method: 'POST', body }, stubBindings());
  expect(response.status).toBe(error.status);
  expect(Object.fromEntries(response.headers)).toEqual({
    'content-type': 'application/json',
    ...headers,
  });
  expect(await response.json()).toEqual({ code: 'request_rejected', ...error });
  // The cause may contain a credential.
  expect(logLines()).toMatchObject([{ code: 'request_rejected', route: '/:path' }]);
  expect(logLines()[0]).not.toHaveProperty('cause');
});

test('a timeout of a write is a 503 that says what is unknown', async () => {
  stopTime();
  const response = await app.request('/slow', { method: 'POST' }, stubBindings());
  const message = expect.stringMatching(/^The service did not finish.+ animal was added.+: x\.$/);
  expect(await response.json()).toEqual({ code: 'service_unavailable', message, status: 503 });
});

test('an exception with the status 500 is an internal error, and only the log has its text', async () => {
  const logLines = stopTime();
  const response = await app.request('/failed', { method: 'POST' }, stubBindings());
  expect(await response.json()).toMatchObject({ code: 'internal_error', status: 500 });
  expect(logLines()).toMatchObject([{ code: 'internal_error', cause: 'an internal host' }]);
});
