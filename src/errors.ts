/** The closed set of error codes, and the error that any module throws. */
import { HTTPException } from 'hono/http-exception';

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

export type StatusOf<Code extends ErrorCode> = (typeof STATUS_OF)[Code];

type ErrorDetails = {
  /** Response headers that belong to the error, such as `Allow`. */
  headers?: Record<string, string>;
  /** For the log line. The client never sees it. */
  cause?: unknown;
};

/** The client sees its message. openapi/ calls its makers for examples. */
export class ApiError extends HTTPException {
  declare readonly status: StatusOf<ErrorCode>;
  readonly code: ErrorCode;
  readonly headers: Record<string, string>;

  constructor(code: ErrorCode, message: string, { headers = {}, cause }: ErrorDetails = {}) {
    super(STATUS_OF[code], { message, cause });
    this.name = 'ApiError';
    this.code = code;
    this.headers = headers;
  }

  /** The Error body. */
  toJSON() {
    const { code, message, status } = this;
    return { code, message, status };
  }

  /** The response of an app without `errorResponse`, such as the routes of one resource. */
  override getResponse(): Response {
    const { status, headers } = this;
    return Response.json(this, { status, headers });
  }
}

export function serviceUnavailable(message: string, cause?: unknown): ApiError {
  return new ApiError('service_unavailable', message, { headers: { 'Retry-After': '5' }, cause });
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

export function notAllowed(methods: string[]): ApiError {
  return new ApiError('method_not_allowed', `This path accepts ${methods.join(', ')}.`, {
    // RFC 9110, section 10.2.1. Every path also answers OPTIONS.
    headers: { Allow: [...methods, 'OPTIONS'].join(', ') },
  });
}
