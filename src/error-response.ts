/** Turns an error into a response: `onError` of the app. */
import type { Context } from 'hono';
import { HTTPException } from 'hono/http-exception';
import { type AppEnv, type LogContext, logOf } from './context.ts';
import { ApiError, serviceUnavailable, unexpectedError } from './errors.ts';
import { unavailableMessage } from './http/unavailable.ts';

/** Of any app whose variables are those of `AppEnv`, and maybe others. */
type ErrorContext = LogContext & Pick<Context<AppEnv>, 'json' | 'var'>;

/** Responds to any error with the Error body, and adds the error to the log line. */
export function errorResponse(error: Error, c: ErrorContext): Response | Promise<Response> {
  if (error instanceof ApiError) return respond(error, c);
  if (!(error instanceof HTTPException) || error.status === 500)
    return respond(unexpectedError(error), c);
  // Such as that of `timeout`, after which the handler goes on: a write may still happen.
  return error.status > 500
    ? respond(serviceUnavailable(unavailableMessage(c.var), error), c)
    : rejectedResponse(error, c);
}

function respond(error: ApiError, c: ErrorContext) {
  const { code, status, headers, cause } = error;
  const log = logOf(c);
  log.code = code;
  if (cause instanceof Error) log.cause = cause.message;
  // The exception itself: Issues resolves its stack with the source map.
  if (code === 'internal_error') console.error(cause);
  return c.json(error, status, headers);
}

/**
 * An exception that a middleware of Hono's has made for the client, such as `csrf`: its status,
 * headers and text are those of the Error body. The service itself mounts none.
 */
async function rejectedResponse(exception: HTTPException, c: ErrorContext): Promise<Response> {
  const response = exception.getResponse();
  const { status } = exception;
  const code = 'request_rejected';
  const message = exception.message || (await response.text()) || 'The request was rejected.';
  response.headers.delete('Content-Length');
  logOf(c).code = code;
  return c.json({ code, message, status }, response);
}
