/** The response headers, as schemas of their values. With an id, a header stands once, in `components/headers`. */
import * as z from 'zod/mini';
import type { Deprecation } from '../src/definition.ts';
import { LIMIT } from '../src/http/paging.ts';
import { ACCEPTED_BOOKMARK } from '../src/http/request-headers.ts';
import { VERSION_PATH } from '../src/http/responses.ts';
import { deprecationLinks } from '../src/middleware/response-headers.ts';

/** By the names of the headers. A header that some responses lack has an optional schema. */
export type Headers = Record<string, z.ZodMiniType>;

/** An example of a base address. */
const BASE_URL = `https://api.animal-store.example${VERSION_PATH}`;

/** A text with a URL. */
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
} satisfies Headers;

/** On a response to a request with `X-D1-Bookmark`, if D1 returned a bookmark. */
export const BOOKMARK = {
  'X-D1-Bookmark': z
    .optional(z.string().check(z.minLength(1), z.maxLength(256), z.regex(ACCEPTED_BOOKMARK)))
    .register(z.globalRegistry, {
      header: {
        id: 'Bookmark',
        description:
          'A bookmark of the database state that this response reflects. Present when the request carries a bookmark. Send it with the next request.',
        example: '00000085-0000024c-00004c6d-8e61117bf38d7adb71b934ebbf891683',
      },
    }),
} satisfies Headers;

export const REPLAYED = {
  'Idempotency-Replayed': z.optional(z.literal('true')).register(z.globalRegistry, {
    header: {
      id: 'IdempotencyReplayed',
      description: 'This is the response to an earlier request with the same Idempotency-Key.',
    },
  }),
} satisfies Headers;

/** On a page of a list. */
export const NEXT_PAGE = {
  Link: z
    .optional(urlText(`^<https?://[^>]+${VERSION_PATH}/[^?>]+\\?limit=[0-9]+[^>]*>; rel="next"$`))
    .register(z.globalRegistry, {
      header: {
        id: 'NextPage',
        description:
          'The URL of the next page (RFC 8288). Use it unchanged. Absent on the last page.',
        example: `<${BASE_URL}/pets?limit=${LIMIT.default}&after=${LIMIT.default}>; rel="next"`,
      },
    }),
} satisfies Headers;

/** On a 201. */
export const LOCATION = {
  Location: urlText(`^https?://.+${VERSION_PATH}/.+/[0-9]+$`).register(z.globalRegistry, {
    header: {
      id: 'Location',
      description: 'The URL of the new resource.',
      example: `${BASE_URL}/pets/7`,
    },
  }),
} satisfies Headers;

/** On every response of a deprecated operation. */
export function deprecationHeaders(operationId: string, deprecation: Deprecation): Headers {
  const { since, sunset } = deprecation;
  return {
    Deprecation: z.literal(since).register(z.globalRegistry, {
      header: {
        id: `${operationId}Deprecation`,
        description: 'The time of the deprecation (RFC 9745).',
      },
    }),
    Sunset: z.literal(sunset).register(z.globalRegistry, {
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
          description: 'The replacement and the documentation (RFC 8288, RFC 5829).',
          example: deprecationLinks(deprecation, BASE_URL),
        },
      },
    ),
  };
}

/** The same headers, for a status some of whose responses lack them. */
export function optional(headers: Headers): Headers {
  const entries = Object.entries(headers).map(([name, schema]) => {
    // Without the id, which would refer to the component: there, the header is required.
    const { id: _, ...header } = z.globalRegistry.get(schema)?.header ?? {};
    return [name, z.optional(schema).register(z.globalRegistry, { header })];
  });
  return Object.fromEntries(entries);
}

/** The texts of the headers of errors. */
const ERROR_HEADERS: Record<string, string> = {
  'WWW-Authenticate': 'The challenge (RFC 6750), with the error if the request carries a key.',
  Accept: 'The media types that the operation accepts.',
  'Accept-Patch': 'The media types that the operation accepts (RFC 5789).',
  'Accept-Encoding': 'Present when the body is compressed.',
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

/** The headers of errors with one status: their values are those that the code sends. */
export function errorHeaders(errors: { headers: Record<string, string> }[]): Headers {
  const names = new Set(errors.flatMap(({ headers }) => Object.keys(headers)));
  const entries = Array.from(names, (name) => [
    name,
    errorHeader(
      name,
      errors.map(({ headers }) => headers[name]),
    ),
  ]);
  return Object.fromEntries(entries);
}

/** @param values - those of all errors with the status: `undefined` for an error without the header. */
function errorHeader(name: string, values: (string | undefined)[]): z.ZodMiniType {
  // A number that may change.
  if (name === 'Retry-After') return RETRY_AFTER;
  const description = ERROR_HEADERS[name];
  if (!description) throw new Error(`ERROR_HEADERS in openapi/headers.ts must describe ${name}`);
  const schema = z.enum(values.filter((value) => value !== undefined));
  const header = values.includes(undefined) ? z.optional(schema) : schema;
  return header.register(z.globalRegistry, { header: { description } });
}
