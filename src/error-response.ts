/** Turns an error into a response: `onError` of the app. */
import { HTTPException } from 'hono/http-exception';
import { type AppContext, logOf } from './context.ts';
import { ApiError, unexpectedError } from './errors.ts';
import { unavailable } from './http/unavailable.ts';

export function errorResponse(error: Error, c: AppContext): Response {
  if (error instanceof ApiError) return respond(error, c);
  if (!(error instanceof HTTPException) || error.status === 500)
    return respond(unexpectedError(error), c);
  // After that of `timeout`, the handler goes on: a write may still happen.
  return error.status > 500 ? respond(unavailable(c, error), c) : rejectedResponse(error, c);
}

function respond(error: ApiError, c: AppContext) {
  const { code, status, headers, cause } = error;
  const log = logOf(c);
  log.code = code;
  if (cause instanceof Error) log.cause = cause.message;
  // Cloudflare's Issues maps the stack of an Error.
  if (code === 'internal_error') console.error(cause);
  return c.json(error, status, headers);
}

/** An exception of Hono's middleware, such as `csrf`. */
function rejectedResponse({ status, message }: HTTPException, c: AppContext): Response {
  const code = 'invalid_request';
  logOf(c).code = code;
  return c.json({ code, message: message || 'The request was rejected.', status }, status);
}
