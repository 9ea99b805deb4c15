/** What the description says of responses: their headers, and an example for each code of an error. */
import type { ZodOpenApiResponseObject, ZodOpenApiResponsesObject } from 'zod-openapi';
import { type ErrorCode, STATUS_OF } from '../errors.ts';
import { CHALLENGE } from '../middleware/authenticate.ts';
import { TOKEN_PATTERN } from '../middleware/consistency.ts';
import { MAX_BODY_BYTES } from '../middleware/json-body.ts';
import { PERIOD_S } from '../middleware/rate-limit.ts';
import { DEPRECATION, SUNSET } from '../pets/deprecation.ts';
import { describe, ErrorBody, open } from './schemas.ts';

type Header = { description: string; required: boolean; schema: object; example: string };
type Headers = Record<string, Header>;

/** A header that each such response has; `required: false` for one that only some have. */
function header(description: string, example: string, pattern: string, required = true): Header {
  return { description, required, schema: { type: 'string', pattern }, example };
}

/** A pattern that only this text matches. */
function exactly(text: string): string {
  return `^${text}$`;
}

const REQUEST_ID: Headers = {
  'X-Request-Id': header(
    'Names the request in our log. Quote it when you report a problem.',
    '0b0c2f0e-5a0e-4c57-9d4a-3f1d3c1f7a11',
    '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$',
  ),
};

export const NEXT_PAGE: Headers = {
  Link: header(
    'The next page (RFC 8288), to be followed as it is. Absent on the last page.',
    '<https://api.animal-store.example/v1/pets?limit=20&cursor=MS4uMi4xNmVmMzR1>; rel="next"',
    '^<https?://[^>]+/v1/pets\\?limit=[0-9]+[^>]*>; rel="next"$',
    false,
  ),
};

/** Of a response to a request that carried `X-D1-Bookmark`, once a query was answered. */
export const BOOKMARK: Headers = {
  'X-D1-Bookmark': header(
    'The state that this response has seen: there when the request asked for one. Send it with the next.',
    '00000085-0000024c-00004c6d-8e61117bf38d7adb71b934ebbf891683',
    TOKEN_PATTERN,
    false,
  ),
};

export const REPLAYED: Headers = {
  'Idempotency-Replayed': header(
    'This is the answer to an earlier request with the same Idempotency-Key.',
    'true',
    '^true$',
    false,
  ),
};

export const LOCATION: Headers = {
  Location: header(
    'The address of the animal.',
    'https://api.animal-store.example/v1/pets/7',
    '^https?://.+/v1/pets/[0-9]+$',
  ),
};

export const DEPRECATED: Headers = {
  Deprecation: header('Since when (RFC 9745).', DEPRECATION, exactly(DEPRECATION)),
  Sunset: header('When it is to be removed (RFC 8594).', SUNSET, exactly(SUNSET)),
  Link: header(
    'The operation to use instead, and the documentation (RFC 8288, RFC 5829).',
    '<https://api.animal-store.example/v1/pets>; rel="successor-version", <https://api.animal-store.example/docs>; rel="deprecation"',
    '^<[^>]+>; rel="successor-version", <[^>]+>; rel="deprecation"$',
  ),
};

/** Headers that belong to the errors of one status, whatever the operation. */
const ERROR_HEADERS: Record<number, Headers> = {
  401: {
    'WWW-Authenticate': header(
      'The challenge (RFC 6750): with an error when a key was sent.',
      `${CHALLENGE}, error="invalid_token"`,
      `^${CHALLENGE}(, error="invalid_token")?$`,
    ),
  },
  415: {
    Accept: header('What is taken instead.', 'application/json', '^application/json$'),
    'Accept-Encoding': header(
      'There when the compression of the body was the matter.',
      'identity',
      '^identity$',
      false,
    ),
  },
  429: { 'Retry-After': header('Seconds to wait.', `${PERIOD_S}`, exactly(`${PERIOD_S}`)) },
  503: { 'Retry-After': header('Seconds to wait.', '5', exactly('5')) },
};

const DESCRIPTIONS: Record<number, string> = {
  400: 'The request is not valid. The message names every problem at once.',
  401: 'No API key, or one that is not valid.',
  403: 'The request was sent over plain http.',
  404: 'The requested resource could not be found.',
  413: `The body is larger than ${MAX_BODY_BYTES} bytes.`,
  415: 'The body is not `application/json`, or it is compressed.',
  422: 'The `Idempotency-Key` was used for another body within the last 24 hours.',
  429: 'Too many requests.',
  500: 'Our mistake.',
  503: 'The service cannot answer now. (Whether a create was carried out is not known.)',
};

const MESSAGES: Record<ErrorCode, string> = {
  invalid_json: 'The body is not valid JSON.',
  invalid_request:
    'limit: must be an integer from 1 to 100; stauts: is not a known parameter, did you mean status?',
  missing_api_key: 'Send your API key: Authorization: Bearer <API_KEY>.',
  invalid_api_key: 'There is no such API key.',
  expired_api_key: 'This API key expired at 2026-11-20T00:00:00.000Z.',
  revoked_api_key: 'This API key was revoked.',
  https_required:
    'Send requests over https. Replace any API key that was sent over http: others may have read it.',
  not_found: 'There is nothing at this path.',
  pet_not_found: 'There is no animal with the id 7.',
  method_not_allowed: 'This path takes GET, HEAD, POST.',
  body_too_large: `The body must be at most ${MAX_BODY_BYTES} bytes.`,
  unsupported_media_type:
    'The body must be JSON in UTF-8: send the header Content-Type: application/json.',
  idempotency_key_reused:
    'This Idempotency-Key was used for another body within the last 24 hours.',
  rate_limited: 'Too many requests. Retry after the delay in Retry-After.',
  internal_error:
    'Something went wrong on our side. Quote the X-Request-Id header when you report it.',
  service_unavailable: 'The store cannot be reached right now.',
};

describe(ErrorBody, {
  id: 'Error',
  description: 'What went wrong, in the same three fields for every error.',
  override: open,
  examples: Object.entries(MESSAGES).map(([code, message]) => ({
    code,
    message,
    status: STATUS_OF[code as ErrorCode],
  })),
});

/** A response with a body of its own. */
export function success(
  description: string,
  schema: ZodOpenApiResponseObject['content'],
  headers: Headers = {},
): ZodOpenApiResponseObject {
  return { description, headers: { ...headers, ...REQUEST_ID }, content: schema ?? {} };
}

/**
 * The responses that carry these codes, by status; `headers` are those of the operation, `invalidRequest`
 * is its example of a message.
 */
export function errors(
  codes: ErrorCode[],
  headers: Headers = {},
  invalidRequest = MESSAGES.invalid_request,
): ZodOpenApiResponsesObject {
  const messages = { ...MESSAGES, invalid_request: invalidRequest };
  const byStatus = Map.groupBy(codes, (code) => STATUS_OF[code]);
  return Object.fromEntries(
    Array.from(byStatus, ([status, some]) => [
      status,
      {
        description: DESCRIPTIONS[status] ?? '',
        headers: { ...ERROR_HEADERS[status], ...headers, ...REQUEST_ID },
        content: {
          'application/json': {
            schema: ErrorBody,
            examples: Object.fromEntries(
              some.map((code) => [code, { value: { code, message: messages[code], status } }]),
            ),
          },
        },
      },
    ]),
  );
}

/** The codes of every operation. */
export const COMMON_ERRORS: ErrorCode[] = [
  'invalid_request',
  'missing_api_key',
  'invalid_api_key',
  'expired_api_key',
  'revoked_api_key',
  'https_required',
  'rate_limited',
  'internal_error',
  'service_unavailable',
];
