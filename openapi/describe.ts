/**
 * Describes an operation from the definition that its route uses. The examples of errors are the errors that the code
 * throws, with their status, message and headers.
 */
import type * as z from 'zod/mini';
import type { ZodOpenApiOperationObject, ZodOpenApiResponsesObject } from 'zod-openapi';
import {
  expiredApiKey,
  insufficientScope,
  missingApiKey,
  revokedApiKey,
  unknownApiKey,
} from '../src/auth/authenticate.ts';
import { rateLimited } from '../src/auth/rate-limit.ts';
import type { OperationDefinition, Scope } from '../src/definition.ts';
import { type ApiError, STATUS_OF, serviceUnavailable, unexpectedError } from '../src/errors.ts';
import {
  bodyTooLarge,
  compressedBody,
  JSON_TYPE,
  MAX_BODY_BYTES,
  unsupportedMediaType,
} from '../src/http/body.ts';
import { invalidJson } from '../src/http/json.ts';
import { invalidPart } from '../src/http/problems.ts';
import { unavailableMessage } from '../src/http/unavailable.ts';
import { idempotencyKeyReused } from '../src/idempotency/create-once.ts';
import { httpsRequired } from '../src/middleware/require-https.ts';
import {
  BOOKMARK,
  errorHeaders,
  type Headers,
  headerRefs,
  inlineOptional,
  REPLAYED,
  REQUEST_ID,
} from './headers.ts';
import { parameter } from './parameters.ts';
import { ErrorBody } from './schemas.ts';

/** A resource's part of the description. */
export type ResourceDescription = {
  tags: { name: string; description: string }[];
  /** By their names in the description. */
  schemas: Record<string, z.ZodMiniType>;
  /** Descriptions of the parameters in paths, by name. */
  parameters?: Record<string, string>;
  /** Descriptions of fields, by schema, for fields whose own schema has no description. */
  fields: Record<string, Record<string, string>>;
  /** The resource's own response headers. */
  headers?: Headers;
  /** Operations by path and method. */
  paths: Record<string, Record<string, DescribedOperation>>;
};

/** An operation in the description. */
export type DescribedOperation = {
  operation: ZodOpenApiOperationObject;
  /** The errors among its examples. */
  errors: ApiError[];
  /** Absent if the operation needs no key. */
  scope?: Scope;
};

/** The data of the part that makes an example of a request invalid. */
type Invalid = Partial<Record<'param' | 'query' | 'json', Record<string, unknown>>>;

type Description = {
  tag: string;
  summary: string;
  description: string;
  /** Default `stable`. */
  stability?: 'beta' | 'experimental';
  success: { status: 200 | 201 | 204; description: string; headers?: Headers } & (
    | { schema: z.ZodMiniType; example: unknown }
    | { schema?: undefined }
  );
  /** Of an operation whose definition has `json`. */
  body?: { description: string; examples: Record<string, { summary?: string; value: unknown }> };
  /** Its problems become the example of `invalid_request`. */
  invalid: Invalid;
  /** The operation's own errors. */
  errors?: ApiError[];
  /** Headers of every response. */
  headers?: Headers;
  /** Other fields of the operation. */
  extra?: Record<string, unknown>;
};

export function describeOperation(
  definition: OperationDefinition,
  about: Description,
): DescribedOperation {
  const { operationId, param, query, json, mediaTypes = [JSON_TYPE] } = definition;
  const { acceptsIdempotencyKey } = definition;
  const { tag, summary, description, stability, success, body, headers = {} } = about;
  const { errors = [], extra } = about;
  const common = commonErrors(definition, invalidError(definition, about.invalid));
  const own = [...errors, ...(acceptsIdempotencyKey ? [idempotencyKeyReused()] : [])];
  const operation: ZodOpenApiOperationObject = {
    operationId,
    tags: [tag],
    summary,
    description,
    ...(stability && { 'x-stability': stability }),
    ...extra,
    requestParams: { ...(param && { path: param }), ...(query && { query }) },
    parameters: [
      ...(acceptsIdempotencyKey ? [parameter('IdempotencyKey')] : []),
      parameter('Bookmark'),
    ],
    ...(json && {
      requestBody: {
        required: true,
        description: body?.description ?? '',
        content: Object.fromEntries(
          mediaTypes.map((type) => [type, { schema: json, examples: body?.examples ?? {} }]),
        ),
      },
    }),
    responses: {
      [success.status]: {
        description: success.description,
        headers: headerRefs({
          ...success.headers,
          ...(acceptsIdempotencyKey && REPLAYED),
          ...headers,
          ...BOOKMARK,
          ...REQUEST_ID,
        }),
        ...(success.schema && {
          content: { [JSON_TYPE]: { schema: success.schema, example: success.example } },
        }),
      },
      ...describeErrors(common, headers, own),
    },
  };
  return { operation, errors: [...common, ...own], scope: definition.scope };
}

/** The error of a request with an invalid part. */
function invalidError(definition: OperationDefinition, invalid: Invalid): ApiError {
  for (const target of ['param', 'query', 'json'] as const) {
    const schema = definition[target];
    const data = invalid[target];
    if (!schema || !data) continue;
    const { error } = schema.safeParse(data);
    if (!error) throw new Error(`the example of ${definition.operationId} must be invalid`);
    // `invalidPart` looks for repeated parameters. A body has no parameters.
    return invalidPart(error, target === 'json' ? {} : data);
  }
  throw new Error(`${definition.operationId} must have an example of an invalid request`);
}

/** The errors that follow from an operation's definition. */
function commonErrors(definition: OperationDefinition, invalid: ApiError): ApiError[] {
  const { scope, json, mediaTypes = [JSON_TYPE], acceptsIdempotencyKey } = definition;
  // The 503 of a create is described as that of a request with an Idempotency-Key.
  const requestHeaders = acceptsIdempotencyKey ? { idempotencyKey: 'any' } : {};
  return [
    ...(json ? [invalidJson()] : []),
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
    // Without a cause, which only the log shows.
    serviceUnavailable(unavailableMessage(definition, requestHeaders), undefined),
  ];
}

/** The description of every request body. */
export const BODY_DESCRIPTION = `At most ${MAX_BODY_BYTES / 1024} KiB, uncompressed, in UTF-8. Unknown fields are rejected. Of a repeated field, the last one counts. An integer may also be written as \`3.0\` or \`1e2\`.`;

const DESCRIPTIONS: Record<number, string> = {
  400: 'The request is invalid. The message lists every problem.',
  401: 'The API key is missing or invalid.',
  403: 'The API key lacks the scope of the operation, or the request was sent over plain http.',
  404: 'The requested resource could not be found.',
  409: 'The state of the resource does not allow the operation.',
  413: 'The body is too large.',
  415: 'The media type or its charset is not supported, or the body is compressed.',
  422: 'The `Idempotency-Key` was used with another body.',
  429: 'Too many requests.',
  500: 'Internal server error.',
  503: 'The service is temporarily unavailable. The message says whether a write may have happened. While operators have stopped writes, nothing is written and reads still work.',
};

/** The responses of an operation's common and own errors, by status. All have `headers`, but for those to a request over http. */
export function describeErrors(
  common: ApiError[],
  headers: Headers = {},
  own: ApiError[] = [],
): ZodOpenApiResponsesObject {
  const byStatus = Map.groupBy([...common, ...own], ({ code }) => STATUS_OF[code]);
  return Object.fromEntries(
    Array.from(byStatus, ([status, errors]) => [
      status,
      {
        description: DESCRIPTIONS[status] ?? '',
        headers: {
          ...headerRefs(errorHeaders(errors)),
          // A request over http is rejected before the operation sets its headers.
          ...(errors.some(({ code }) => code === 'https_required')
            ? inlineOptional(headers)
            : headerRefs(headers)),
          // Only an operation's own errors are thrown after D1 has answered.
          ...(errors.some((error) => own.includes(error)) && headerRefs(BOOKMARK)),
          ...headerRefs(REQUEST_ID),
        },
        content: { [JSON_TYPE]: { schema: ErrorBody, examples: examplesOf(errors) } },
      },
    ]),
  );
}

/** Examples by code. The first error with a code is its example. */
function examplesOf(errors: ApiError[]) {
  const examples = new Map<string, { value: unknown }>();
  for (const { code, message } of errors) {
    const value = { code, message, status: STATUS_OF[code] };
    if (!examples.has(code)) examples.set(code, { value });
  }
  return Object.fromEntries(examples);
}
