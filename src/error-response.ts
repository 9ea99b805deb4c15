/** The only functions that turn an error into a response. */
import type { Context } from 'hono';
import { HTTPException } from 'hono/http-exception';
import type { AppEnv } from './context.ts';
import {
  ApiError,
  REQUEST_REJECTED,
  STATUS_OF,
  serviceUnavailable,
  unexpectedError,
} from './errors.ts';
import { unfinishedMessage } from './http/unavailable.ts';

/** Responds to any error with the Error body `{code, message, status}`, and adds the error to the log line. */
export function errorResponse(error: Error, c: Context<AppEnv>): Response | Promise<Response> {
  if (error instanceof HTTPException && error.status < 500) return rejectedResponse(error, c);
  const apiError = apiErrorOf(error, c);
  const { code, message, headers, cause } = apiError;
  const log = c.get('log');
  log.code = code;
  if (cause instanceof Error) {
    log.cause = cause.message;
    // The cause of an internal_error is the exception itself.
    if (code === 'internal_error') log.stack = cause.stack;
  }
  const status = STATUS_OF[code];
  return c.json({ code, message, status }, status, headers);
}

function apiErrorOf(error: Error, c: Context<AppEnv>): ApiError {
  if (error instanceof ApiError) return error;
  // Such as that of `timeout`, after which the handler goes on: a write may still happen.
  if (error instanceof HTTPException && error.status > 500)
    return serviceUnavailable(unfinishedMessage(c.var), error);
  return unexpectedError(error);
}

/** Responds to an exception that a middleware of Hono's has made for the client, with its status, headers and text. */
async function rejectedResponse(exception: HTTPException, c: Context<AppEnv>): Promise<Response> {
  const code = REQUEST_REJECTED;
  c.get('log').code = code;
  const response = exception.getResponse();
  const message = exception.message || (await response.text()) || 'The request was rejected.';
  const { status } = exception;
  return c.json({ code, message, status }, response);
}
