/** Turns an error into a response: `onError` of the app. */
import type { Context } from 'hono';
import { HTTPException } from 'hono/http-exception';
import { type AppEnv, type LogContext, logOf } from './context.ts';
import { ApiError, unexpectedError } from './errors.ts';
import { unavailable } from './http/unavailable.ts';

type ErrorContext = LogContext & Pick<Context<AppEnv>, 'env' | 'get' | 'json' | 'req'>;

/** Responds to any error with the Error body, and adds the error to the log line. */
export function errorResponse(error: Error, c: ErrorContext): Response {
  if (error instanceof ApiError) return respond(error, c);
  if (!(error instanceof HTTPException) || error.status === 500)
    return respond(unexpectedError(error), c);
  // Such as that of `timeout`, after which the handler goes on: a write may still happen.
  return error.status > 500 ? respond(unavailable(c, error), c) : rejectedResponse(error, c);
}

function respond(error: ApiError, c: ErrorContext) {
  const { code, status, headers, cause } = error;
  const log = logOf(c);
  log.code = code;
  if (cause instanceof Error) log.cause = cause.message;
  // Cloudflare's Issues maps the stack of an Error.
  if (code === 'internal_error') console.error(cause);
  return c.json(error, status, headers);
}

/** An exception of Hono's middleware, such as `csrf`, none of which the service mounts. */
function rejectedResponse({ status, message }: HTTPException, c: ErrorContext): Response {
  const code = 'invalid_request';
  logOf(c).code = code;
  return c.json({ code, message: message || 'The request was rejected.', status }, status);
}
