/**
 * The closed set of error codes, the error class that any module throws, and the only function that turns an error
 * into a response.
 */
import type { Context } from 'hono';
import type { AppEnv } from './context.ts';

/** The HTTP status of every `code` that an Error body can carry. */
export const STATUS_OF = {
  invalid_json: 400,
  invalid_request: 400,
  missing_api_key: 401,
  invalid_api_key: 401,
  expired_api_key: 401,
  revoked_api_key: 401,
  insufficient_scope: 403,
  https_required: 403,
  not_found: 404,
  pet_not_found: 404,
  order_not_found: 404,
  method_not_allowed: 405,
  pet_not_available: 409,
  pet_has_open_order: 409,
  invalid_transition: 409,
  body_too_large: 413,
  unsupported_media_type: 415,
  idempotency_key_reused: 422,
  rate_limited: 429,
  internal_error: 500,
  service_unavailable: 503,
} as const;

export type ErrorCode = keyof typeof STATUS_OF;

/** The Error bodies by status, for the type of the app. */
export type ErrorResponses = {
  [Code in ErrorCode as (typeof STATUS_OF)[Code]]: {
    json: { code: Code; message: string; status: (typeof STATUS_OF)[Code] };
  };
};

type ErrorDetails = {
  /** Response headers that belong to the error, such as `Allow`. */
  headers?: Record<string, string>;
  /** If the cause is an Error, the log line has its message. The client never sees it. */
  cause?: unknown;
};

/**
 * An error for the client, who sees its message. Many are made by exported functions, which openapi/ calls for its examples.
 */
export class ApiError extends Error {
  readonly code: ErrorCode;
  readonly headers: Record<string, string>;

  constructor(code: ErrorCode, message: string, { headers = {}, cause }: ErrorDetails = {}) {
    super(message, { cause });
    this.name = 'ApiError';
    this.code = code;
    this.headers = headers;
  }
}

/** A 503 with `Retry-After: 5` (seconds). */
export function serviceUnavailable(message: string, cause: unknown): ApiError {
  return new ApiError('service_unavailable', message, { headers: { 'Retry-After': '5' }, cause });
}

/** Responds to any error with the Error body `{code, message, status}`, and adds the error to the log line. */
export function errorResponse(error: Error, c: Context<AppEnv>): Response {
  const apiError = error instanceof ApiError ? error : unexpectedError(error);
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

/** Hides the message of an unexpected error from the client. */
export function unexpectedError(error: Error): ApiError {
  return new ApiError(
    'internal_error',
    'Internal server error. Quote the X-Request-Id header when you report it.',
    { cause: error },
  );
}

export function notFound(): ApiError {
  return new ApiError('not_found', 'Path not found.');
}

/** `methods` are those of the path's operations. Hono adds HEAD to GET, and leaves OPTIONS out. */
export function notAllowed(methods: string[]): ApiError {
  return new ApiError('method_not_allowed', `This path accepts ${methods.join(', ')}.`, {
    // RFC 9110, section 10.2.1. Every path also answers OPTIONS.
    headers: { Allow: [...methods, 'OPTIONS'].join(', ') },
  });
}
