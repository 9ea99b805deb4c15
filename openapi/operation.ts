/**
 * Describes an operation from the definition in its route. The examples of errors are the errors
 * that the code throws, with their status, message and headers.
 */
import * as z from 'zod/mini';
import type {
  ZodOpenApiOperationObject,
  ZodOpenApiRequestBodyObject,
  ZodOpenApiResponseObject,
  ZodOpenApiResponsesObject,
} from 'zod-openapi';
import {
  expiredApiKey,
  insufficientScope,
  missingApiKey,
  revokedApiKey,
  unknownApiKey,
} from '../src/auth/authenticate.ts';
import { rateLimited } from '../src/auth/rate-limit.ts';
import { type ApiError, STATUS_OF, serviceUnavailable, unexpectedError } from '../src/errors.ts';
import {
  bodyTooLarge,
  compressedBody,
  JSON_TYPE,
  MAX_BODY_BYTES,
  unsupportedMediaType,
} from '../src/http/body.ts';
import { invalidJson } from '../src/http/json.ts';
import { Limit } from '../src/http/paging.ts';
import { invalidPart } from '../src/http/problems.ts';
import { NoParameters } from '../src/http/schemas.ts';
import { unavailableMessage } from '../src/http/unavailable.ts';
import { idempotencyKeyReused, KEPT_HOURS } from '../src/idempotency/create-once.ts';
import { httpsRequired } from '../src/middleware/require-https.ts';
import type {
  AuthenticatedDefinition,
  Deprecation,
  OperationDefinition,
} from '../src/operation/definition.ts';
import type {
  OperationDescription as Description,
  SuccessDescription,
} from '../src/operation/resource-description.ts';
import {
  BOOKMARK,
  errorHeaders,
  type HeaderSchemas,
  headersOfDeprecation,
  LOCATION,
  NEXT_PAGE,
  optionalHeaders,
  REPLAYED,
  REQUEST_ID,
} from './headers.ts';
import { Bookmark, IdempotencyKey } from './parameters.ts';
import { ErrorBody } from './schemas.ts';

/** With an example of each error in the definition. */
export type OperationDescription = Description & { errors?: ApiError[] };

/** Whether the operation lists a collection in pages. */
export function isPaged({ query }: OperationDefinition): boolean {
  return query?.shape.limit === Limit;
}

/**
 * The errors of an operation, as the code throws them. Those in `own` are thrown after D1 has
 * responded.
 */
export function errorsOf(definition: OperationDefinition, about: OperationDescription) {
  const invalid = invalidError(definition);
  const { errors = [] } = about;
  return {
    common: definition.public
      ? [invalid, httpsRequired(), unexpectedError(new Error())]
      : authenticatedErrors(definition, invalid),
    own: definition.acceptsIdempotencyKey ? [...errors, idempotencyKeyReused()] : errors,
  };
}

export function describeOperation(
  definition: OperationDefinition,
  about: OperationDescription,
): ZodOpenApiOperationObject {
  const { operationId, param, query, deprecation, acceptsIdempotencyKey } = definition;
  // The other fields are copied.
  const { requestBody: _body, responses: _responses, errors: _errors, ...copied } = about;
  const header = z.object({
    ...(acceptsIdempotencyKey && { 'Idempotency-Key': IdempotencyKey }),
    'X-D1-Bookmark': Bookmark,
  });
  return {
    operationId,
    ...copied,
    ...(deprecation && deprecatedFields(deprecation, copied.description)),
    ...(definition.public && { security: [] }),
    requestParams: {
      ...(param && { path: param }),
      ...(query && { query }),
      ...(!definition.public && { header }),
    },
    ...(definition.json && { requestBody: requestBody(definition, about) }),
    responses: responses(definition, about),
  };
}

/** The fields of a deprecated operation. Tools read the date under one of two names. */
function deprecatedFields({ sunset }: Deprecation, description: string) {
  const dayInText = new Date(sunset).toLocaleDateString('en-GB', {
    dateStyle: 'long',
    timeZone: 'UTC',
  });
  return {
    description: `Will be removed on ${dayInText}. ${description}`,
    deprecated: true,
    'x-sunset': sunset,
    'x-deprecated-sunset': sunset,
  };
}

function requestBody(
  { json, mediaTypes = [JSON_TYPE] }: AuthenticatedDefinition,
  about: OperationDescription,
): ZodOpenApiRequestBodyObject {
  const examples = about.requestBody?.examples ?? {};
  const entries = mediaTypes.map((type) => [type, { schema: json, examples }]);
  return {
    required: true,
    description: `At most ${MAX_BODY_BYTES / 1024} KiB, uncompressed, in UTF-8. Unknown fields are rejected. If a field is repeated, its last value counts. An integer may also be written as \`3.0\` or \`1e2\`.`,
    content: Object.fromEntries(entries),
  };
}

function responses(
  definition: OperationDefinition,
  about: OperationDescription,
): ZodOpenApiResponsesObject {
  const { operationId, deprecation, acceptsIdempotencyKey } = definition;
  if (deprecation && isPaged(definition))
    throw new Error(`describe both links of ${operationId} in one header: next page and successor`);
  if (acceptsIdempotencyKey && !about.responses[201])
    throw new Error(`${operationId} accepts an Idempotency-Key, so it must describe a 201`);
  const { common, own } = errorsOf(definition, about);
  const deprecationHeaders = deprecation ? headersOfDeprecation(operationId, deprecation) : {};
  const bookmarkHeader = definition.public ? {} : BOOKMARK;
  const successHeaders = {
    ...(isPaged(definition) && NEXT_PAGE),
    ...(about.responses[201]?.location && LOCATION),
    ...(acceptsIdempotencyKey && REPLAYED),
    ...deprecationHeaders,
    ...bookmarkHeader,
    ...REQUEST_ID,
  };
  const successes = Object.entries(about.responses).map(([status, success]) => [
    status,
    successResponse(success, successHeaders),
  ]);
  return {
    ...Object.fromEntries(successes),
    ...errorResponses(common, own, deprecationHeaders, bookmarkHeader),
  };
}

function successResponse(
  { description, schema, example }: SuccessDescription,
  successHeaders: HeaderSchemas,
): ZodOpenApiResponseObject {
  const headers = z.object(successHeaders);
  if (!schema) return { description, headers };
  const [firstExample] = z.globalRegistry.get(schema)?.examples ?? [];
  const content = { [JSON_TYPE]: { schema, example: example ?? firstExample } };
  return { description, headers, content };
}

/**
 * The error of a request whose body, path or query has only invalid values, so that its message
 * shows the rule for each.
 */
function invalidError({ operationId, param, query, json }: OperationDefinition): ApiError {
  const schema = json ?? param ?? query ?? NoParameters;
  const names = Object.keys(schema.shape);
  // Without fields, only an unknown one is invalid.
  if (names.length === 0) names.push('unknown');
  const { error } = schema.safeParse(Object.fromEntries(names.map((name) => [name, {}])));
  if (!error) throw new Error(`${operationId} must reject {} as the value of ${names}`);
  return invalidPart(error);
}

/** What the parser says of `{"name":"Rex","categoryId":1,}`. */
const INVALID_JSON_REASON =
  'Expected double-quoted property name in JSON at position 29 (line 1 column 30)';

/** The errors that follow from the definition of an operation that needs an API key. */
function authenticatedErrors(definition: AuthenticatedDefinition, invalid: ApiError): ApiError[] {
  const { scope, json, mediaTypes = [JSON_TYPE] } = definition;
  return [
    ...(json ? [invalidJson(INVALID_JSON_REASON)] : []),
    invalid,
    missingApiKey(),
    unknownApiKey('production'),
    expiredApiKey({ expiresAt: '2026-11-20T00:00:00.000Z' }),
    revokedApiKey(),
    insufficientScope(scope),
    httpsRequired(),
    ...(json ? [bodyTooLarge(), unsupportedMediaType(mediaTypes), compressedBody(mediaTypes)] : []),
    rateLimited(),
    unexpectedError(new Error()),
    // That of a create is shown as a request with an Idempotency-Key gets it.
    serviceUnavailable(unavailableMessage(definition, true)),
  ];
}

const ERROR_DESCRIPTIONS: Record<number, string> = {
  400: 'The request is invalid. The message names the problems of one part of the request, such as the body.',
  401: 'The API key is missing, invalid, expired or revoked.',
  403: 'The request was sent over plain http, or with an API key that lacks the required scope.',
  404: 'The requested resource could not be found.',
  409: 'The state of the resource does not allow the operation.',
  413: 'The body is too large.',
  415: 'The media type or its charset is not supported, or the body is compressed.',
  422: `The \`Idempotency-Key\` was used with another body within the last ${KEPT_HOURS} hours.`,
  429: 'Too many requests were sent with this API key.',
  500: 'Internal server error.',
  503: 'The service is temporarily unavailable. If a write may have been carried out, the message says so.',
};

/** The responses of errors by status. */
function errorResponses(
  common: ApiError[],
  own: ApiError[],
  deprecationHeaders: HeaderSchemas,
  bookmarkHeader: HeaderSchemas,
): ZodOpenApiResponsesObject {
  const byStatus = Map.groupBy([...common, ...own], ({ code }) => STATUS_OF[code]);
  const entries = Array.from(byStatus, ([status, errors]) => {
    // A request over http is rejected before `operation(…)` sets the definition, so the response
    // lacks these headers.
    const includesOverHttp = errors.some(({ code }) => code === 'https_required');
    const headers = z.object({
      ...errorHeaders(errors),
      ...(includesOverHttp ? optionalHeaders(deprecationHeaders) : deprecationHeaders),
      // The errors that may be thrown after D1 has responded.
      ...((status >= 500 || errors.some((error) => own.includes(error))) && bookmarkHeader),
      ...REQUEST_ID,
    });
    const content = { [JSON_TYPE]: { schema: ErrorBody, examples: examplesOf(errors) } };
    return [status, { description: ERROR_DESCRIPTIONS[status] ?? '', headers, content }];
  });
  return Object.fromEntries(entries);
}

/** The examples by error code. If several errors have a code, the first is its example. */
function examplesOf(errors: ApiError[]) {
  const byCode = Map.groupBy(errors, ({ code }) => code);
  const entries = Array.from(byCode, ([code, [first]]) => [
    code,
    { value: { code, message: first?.message, status: STATUS_OF[code] } },
  ]);
  return Object.fromEntries(entries);
}
