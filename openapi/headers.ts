/**
 * The response headers, as schemas of their values. A header with an id is described once, in
 * `components/headers`.
 */
import * as z from 'zod/mini';
import { LIMIT } from '../src/http/paging.ts';
import { ACCEPTED_BOOKMARK } from '../src/http/request-headers.ts';
import { VERSION_PATH } from '../src/http/urls.ts';
import { deprecationHeaders } from '../src/middleware/response-headers.ts';
import type { Deprecation } from '../src/operation/definition.ts';

/**
 * Schemas of values, by the name of the header. If some deployed responses lack a header, its
 * schema is optional.
 */
export type HeaderSchemas = Record<string, z.ZodMiniType>;

/** An example of a base address. */
const EXAMPLE_BASE_URL = `https://api.animal-store.example${VERSION_PATH}`;

/** The schema of a text with a URL. */
function urlText(pattern: string) {
  return z.string().check(z.minLength(1), z.maxLength(2048), z.regex(new RegExp(pattern)));
}

export const REQUEST_ID = {
  'X-Request-Id': z
    .string()
    .check(z.length(36), z.regex(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/))
    .register(z.globalRegistry, {
      header: {
        id: 'RequestId',
        description: 'The id of the request in the log. Quote it when you report a problem.',
        example: '0b0c2f0e-5a0e-4c57-9d4a-3f1d3c1f7a11',
      },
    }),
} satisfies HeaderSchemas;

/** On every response after D1 has answered, if D1 returned a bookmark. */
export const BOOKMARK = {
  'X-D1-Bookmark': z
    .optional(z.string().check(z.minLength(1), z.maxLength(256), z.regex(ACCEPTED_BOOKMARK)))
    .register(z.globalRegistry, {
      header: {
        id: 'Bookmark',
        description:
          'A bookmark of the database state that this response reflects. If you send it with the next read, a nearer replica may answer.',
        example: '00000085-0000024c-00004c6d-8e61117bf38d7adb71b934ebbf891683',
      },
    }),
} satisfies HeaderSchemas;

export const REPLAYED = {
  'Idempotency-Replayed': z.optional(z.literal('true')).register(z.globalRegistry, {
    header: {
      id: 'IdempotencyReplayed',
      description: 'This is the response to an earlier request with the same Idempotency-Key.',
    },
  }),
} satisfies HeaderSchemas;

/** On every page of a list except the last. */
export const NEXT_PAGE = {
  Link: z
    .optional(urlText(`^<https?://[^>]+${VERSION_PATH}/[^?>]+\\?limit=[0-9]+[^>]*>; rel="next"$`))
    .register(z.globalRegistry, {
      header: {
        id: 'NextPage',
        description:
          'The link to the next page (RFC 8288). Use its URL unchanged. Absent on the last page.',
        example: `<${EXAMPLE_BASE_URL}/pets?limit=${LIMIT.default}&after=${LIMIT.default}>; rel="next"`,
      },
    }),
} satisfies HeaderSchemas;

/** On a 201. */
export const LOCATION = {
  Location: urlText(`^https?://.+${VERSION_PATH}/.+/[0-9]+$`).register(z.globalRegistry, {
    header: {
      id: 'Location',
      description: 'The URL of the new resource.',
      example: `${EXAMPLE_BASE_URL}/pets/7`,
    },
  }),
} satisfies HeaderSchemas;

/**
 * On the responses of a deprecated operation. The 403 over http lacks them, and in the local
 * environment the 400 for a foreign `Origin`: such a request is rejected before
 * `operation(…)` sets the definition.
 */
export function headersOfDeprecation(operationId: string, deprecation: Deprecation): HeaderSchemas {
  const values = deprecationHeaders(deprecation, EXAMPLE_BASE_URL);
  return {
    Deprecation: z.literal(values.Deprecation).register(z.globalRegistry, {
      header: {
        id: `${operationId}Deprecation`,
        description: 'The time of the deprecation (RFC 9745).',
      },
    }),
    Sunset: z.literal(values.Sunset).register(z.globalRegistry, {
      header: {
        id: `${operationId}Sunset`,
        description: 'The time of the planned removal (RFC 8594).',
      },
    }),
    Link: urlText('^<[^>]+>; rel="successor-version", <[^>]+>; rel="deprecation"$').register(
      z.globalRegistry,
      {
        header: {
          id: `${operationId}Links`,
          description:
            'The links to the replacement and to the documentation (RFC 8288, RFC 5829).',
          example: values.Link,
        },
      },
    ),
  };
}

/** The same headers, for a status with responses that lack them. */
export function optionalHeaders(headers: HeaderSchemas): HeaderSchemas {
  const entries = Object.entries(headers).map(([name, schema]) => {
    // The id is left out, because it would refer to the component, where the header is required.
    const { id: _, ...header } = z.globalRegistry.get(schema)?.header ?? {};
    return [name, z.optional(schema).register(z.globalRegistry, { header })];
  });
  return Object.fromEntries(entries);
}

/** The descriptions of the headers of errors, except that of Retry-After. */
const ERROR_HEADERS: Record<string, string> = {
  'WWW-Authenticate': 'The challenge (RFC 6750), with an `error` if the request has an API key.',
  Accept: 'The media types that the operation accepts.',
  'Accept-Patch': 'The media types that the operation accepts (RFC 5789).',
  'Accept-Encoding': 'Present when the body is rejected because it is compressed.',
};

const RETRY_AFTER = z
  .int32()
  .check(z.minimum(1), z.maximum(3600))
  .register(z.globalRegistry, {
    header: {
      id: 'RetryAfter',
      description: 'Seconds to wait before the next request.',
      example: 10,
    },
  });

/**
 * The headers of all errors with one status. Their values, except that of Retry-After, are those
 * that the code sends.
 */
export function errorHeaders(errors: { headers: Record<string, string> }[]): HeaderSchemas {
  const names = new Set(errors.flatMap(({ headers }) => Object.keys(headers)));
  const entries = Array.from(names, (name) => [
    name,
    errorHeaderSchema(
      name,
      errors.map(({ headers }) => headers[name]),
    ),
  ]);
  return Object.fromEntries(entries);
}

/**
 * @param values - one for each error with the status: `undefined` if the error lacks the header.
 */
function errorHeaderSchema(name: string, values: (string | undefined)[]): z.ZodMiniType {
  // Not the numbers that the code sends, because they may change.
  if (name === 'Retry-After') return RETRY_AFTER;
  const description = ERROR_HEADERS[name];
  if (!description) throw new Error(`ERROR_HEADERS in openapi/headers.ts must describe ${name}`);
  const schema = z.enum(values.filter((value) => value !== undefined));
  const header = values.includes(undefined) ? z.optional(schema) : schema;
  return header.register(z.globalRegistry, { header: { description } });
}
