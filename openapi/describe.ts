/**
 * Describes an operation from the definition that its route uses. The examples of errors are the errors that the code
 * throws, with their status, message and headers.
 */
import type * as z from 'zod/mini';
import type { ZodOpenApiOperationObject, ZodOpenApiResponsesObject } from 'zod-openapi';
import {
  inactiveApiKey,
  insufficientScope,
  missingApiKey,
  unknownApiKey,
} from '../src/auth/authenticate.ts';
import { rateLimited } from '../src/auth/rate-limit.ts';
import { idempotencyKeyReused } from '../src/d1/idempotency/create.ts';
import { KEYED_UNAVAILABLE } from '../src/d1/unavailable.ts';
import type { OperationDefinition, Part } from '../src/definition.ts';
import { type ApiError, STATUS_OF, serviceUnavailable, unexpectedError } from '../src/errors.ts';
import {
  bodyTooLarge,
  compressedBody,
  JSON_TYPE,
  MAX_BODY_BYTES,
  unsupportedMediaType,
} from '../src/http/body.ts';
import { invalidJson } from '../src/http/json.ts';
import { invalidRequest, NoQuery, problemsOfPart } from '../src/http/validate.ts';
import { httpsRequired } from '../src/middleware/safe-transport.ts';
import {
  BOOKMARK,
  errorHeaders,
  type Headers,
  headerRefs,
  optional,
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
  /** Descriptions of fields, by schema, for fields whose own schema has no description. */
  fields: Record<string, Record<string, string>>;
  /** The resource's own response headers. */
  headers?: Headers;
  /** Operations by path and method. */
  paths: Record<string, Record<string, DescribedOperation>>;
};

/** An operation in the description, and the errors among its examples. */
export type DescribedOperation = { operation: ZodOpenApiOperationObject; errors: ApiError[] };

type Invalid = Partial<Record<Part, unknown>>;

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
  body?: { description: string; examples: Record<string, { summary?: string; value: unknown }> };
  /** Invalid parts of a request. Their problems become the example of `invalid_request`. */
  invalid: Invalid;
  /** The operation's own errors. */
  errors?: ApiError[];
  /** Headers of every response. */
  headers?: Headers;
  /** Other fields of the operation. */
  extra?: Record<string, unknown>;
};

export function describe(definition: OperationDefinition, about: Description): DescribedOperation {
  const { operationId, param, query, json, mediaTypes = [JSON_TYPE], idempotent } = definition;
  const { tag, summary, description, stability, success, body, headers = {} } = about;
  const { errors = [], extra } = about;
  const common = commonErrors(definition, problemsIn(definition, about.invalid));
  const own = [...errors, ...(idempotent ? [idempotencyKeyReused()] : [])];
  const operation: ZodOpenApiOperationObject = {
    operationId,
    tags: [tag],
    summary,
    description,
    ...(stability && { 'x-stability': stability }),
    ...extra,
    requestParams: { ...(param && { path: param() }), ...(query && { query: query() }) },
    parameters: [...(idempotent ? [parameter('IdempotencyKey')] : []), parameter('Bookmark')],
    ...(json && {
      requestBody: {
        required: true,
        description: body?.description ?? '',
        content: Object.fromEntries(
          mediaTypes.map((type) => [type, { schema: json(), examples: body?.examples ?? {} }]),
        ),
      },
    }),
    responses: {
      [success.status]: {
        description: success.description,
        headers: headerRefs({
          ...success.headers,
          ...(idempotent && REPLAYED),
          ...headers,
          ...BOOKMARK,
          ...REQUEST_ID,
        }),
        ...(success.schema && {
          content: { [JSON_TYPE]: { schema: success.schema, example: success.example } },
        }),
      },
      ...describeErrors(common, headers),
      ...describeErrors(own, { ...headers, ...BOOKMARK }),
    },
  };
  return { operation, errors: [...common, ...own] };
}

/** The problems that validation reports for these parts. */
export function problemsIn(
  definition: Pick<OperationDefinition, Part>,
  invalid: Invalid,
): string[] {
  const schemas = {
    param: definition.param?.(),
    query: (definition.query ?? NoQuery)(),
    json: definition.json?.(),
  };
  const parts = ['param', 'query', 'json'] as const;
  return parts.flatMap((part) => {
    const schema = schemas[part];
    return schema && part in invalid ? problemsOfPart(part, schema, invalid[part]) : [];
  });
}

/** The errors that follow from an operation's definition. */
function commonErrors(definition: OperationDefinition, problems: string[]): ApiError[] {
  const { scope, json, mediaTypes = [JSON_TYPE], idempotent, unavailable } = definition;
  return [
    ...(json ? [invalidJson()] : []),
    invalidRequest(problems),
    missingApiKey(),
    unknownApiKey(),
    inactiveApiKey('expired', '2026-11-20T00:00:00.000Z'),
    inactiveApiKey('revoked'),
    insufficientScope(scope),
    httpsRequired(),
    ...(json ? [bodyTooLarge(), unsupportedMediaType(mediaTypes), compressedBody(mediaTypes)] : []),
    rateLimited(),
    unexpectedError(new Error()),
    serviceUnavailable(idempotent ? KEYED_UNAVAILABLE : unavailable, undefined),
  ];
}

/** The description of every request body. */
export const BODY = `At most ${MAX_BODY_BYTES / 1024} KiB, uncompressed, in UTF-8. Unknown and repeated fields are rejected. An integer may also be written as \`3.0\` or \`1e2\`.`;

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

/** The responses of these errors, by status. */
export function describeErrors(errors: ApiError[], headers: Headers): ZodOpenApiResponsesObject {
  const byStatus = Map.groupBy(errors, ({ code }) => STATUS_OF[code]);
  return Object.fromEntries(
    Array.from(byStatus, ([status, some]) => [
      status,
      {
        description: DESCRIPTIONS[status] ?? '',
        headers: {
          ...headerRefs(errorHeaders(some)),
          // A request over http is rejected before the operation sets its headers.
          ...(some.some(({ code }) => code === 'https_required')
            ? optional(headers)
            : headerRefs(headers)),
          ...headerRefs(REQUEST_ID),
        },
        content: { [JSON_TYPE]: { schema: ErrorBody, examples: examplesOf(some) } },
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
