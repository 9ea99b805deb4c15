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

/** What a client should do: for the documents, not in the worker. */
export const ADVICE_ON: Record<ErrorCode, string> = {
  invalid_json: 'Send valid JSON in UTF-8. The message says what is wrong.',
  invalid_request: 'Fix the problems that the message names.',
  missing_api_key: 'Send the key in the header `Authorization: Bearer <API_KEY>`.',
  invalid_api_key: 'Check that the key is complete, without quotes, and of this environment.',
  expired_api_key: 'Ask the operator for a new key.',
  revoked_api_key: 'Ask the operator for a new key.',
  insufficient_scope: 'Use a key with the scope `write`.',
  https_required: 'Use https, and replace the key: it was sent unencrypted.',
  not_found: 'Check the path.',
  pet_not_found: 'Check the id of the animal.',
  order_not_found: 'Check the id of the order.',
  method_not_allowed: 'Use a method that the `Allow` header lists.',
  pet_not_available: 'Order an animal whose status is `available`.',
  pet_has_open_order: 'Wait until the order is delivered or cancelled.',
  invalid_transition: 'Get the order: its status does not permit this transition.',
  body_too_large: 'Send a smaller body.',
  unsupported_media_type: 'Send the media type `application/json`, in UTF-8 and uncompressed.',
  idempotency_key_reused: 'Use a new `Idempotency-Key` for another path, query or body.',
  rate_limited: 'Wait for the seconds in `Retry-After`, then send requests at a lower rate.',
  internal_error: 'Report the error with the `X-Request-Id` of the response.',
  service_unavailable: 'Wait for the seconds in `Retry-After`, then follow [retries](#retries).',
};

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
