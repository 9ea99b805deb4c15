/** The description of response headers, each once, in `components/headers`. */
import { LIMIT } from '../src/http/paging.ts';
import { ACCEPTED_BOOKMARK } from '../src/http/request-headers.ts';
import { VERSION_PATH } from '../src/http/responses.ts';

type Text = { type: 'string'; pattern: string; minLength: number; maxLength: number };
type Int32 = { type: 'integer'; format: 'int32'; minimum: number; maximum: number };

export type Header = {
  /** The header's own name, such as `Link`. */
  name: string;
  description: string;
  /** Whether every response that refers to it has the header. */
  required: boolean;
  schema: Text | Int32;
  example: string | number;
};
/** By their names in `components/headers`. */
export type Headers = Record<string, Header>;

/** A text header; `length` is exact, or the minimum and the maximum. */
export function textHeader(
  name: string,
  about: { description: string; required?: boolean; example: string; pattern: string },
  length: number | [minimum: number, maximum: number],
): Header {
  const [minLength, maxLength] = typeof length === 'number' ? [length, length] : length;
  const { description, required = true, example, pattern } = about;
  const schema: Text = { type: 'string', pattern, minLength, maxLength };
  return { name, description, required, schema, example };
}

/** A header with a constant value. */
export function constantHeader(name: string, value: string, description: string): Header {
  const pattern = `^${value.replaceAll(/[()[\]{}.*+?^$|\\]/g, '\\$&')}$`;
  return textHeader(name, { description, example: value, pattern }, value.length);
}

/** The headers for `components/headers`, where they have no `name`. */
export function headerComponents(headers: Headers): Record<string, Omit<Header, 'name'>> {
  const components = Object.entries(headers).map(([component, { name: _, ...header }]) => [
    component,
    header,
  ]);
  return Object.fromEntries(components);
}

/** References to headers in `components/headers`. */
export function headerRefs(headers: Headers): Record<string, { $ref: string }> {
  const references = Object.entries(headers).map(([component, { name }]) => [
    name,
    { $ref: `#/components/headers/${component}` },
  ]);
  return Object.fromEntries(references);
}

/** Headers that some responses of a status lack. They are written out, because the shared ones are required. */
export function inlineOptional(headers: Headers): Record<string, Omit<Header, 'name'>> {
  const written = Object.values(headers).map(({ name, ...header }) => [
    name,
    { ...header, required: false },
  ]);
  return Object.fromEntries(written);
}

/** Maximum length of a URL in a header. */
const MAX_URL = 2048;

/** A URL of a collection, as an example. */
const PETS_URL = `https://api.animal-store.example${VERSION_PATH}/pets`;

const BOOKMARK_SCHEMA: Text = {
  type: 'string',
  pattern: ACCEPTED_BOOKMARK.source,
  minLength: 1,
  maxLength: 256,
};

export const REQUEST_ID: Headers = {
  RequestId: textHeader(
    'X-Request-Id',
    {
      description: 'The id of the request in the log. Quote it when you report a problem.',
      example: '0b0c2f0e-5a0e-4c57-9d4a-3f1d3c1f7a11',
      pattern: '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$',
    },
    36,
  ),
};

/** On a response to a request with `X-D1-Bookmark`, if D1 returned a bookmark. */
export const BOOKMARK: Headers = {
  Bookmark: {
    name: 'X-D1-Bookmark',
    description:
      'A bookmark of the database state that this response reflects. Present when the request carries a bookmark. Send it with the next request.',
    required: false,
    schema: BOOKMARK_SCHEMA,
    example: '00000085-0000024c-00004c6d-8e61117bf38d7adb71b934ebbf891683',
  },
};

export const REPLAYED: Headers = {
  IdempotencyReplayed: {
    ...constantHeader(
      'Idempotency-Replayed',
      'true',
      'This is the response to an earlier request with the same Idempotency-Key.',
    ),
    required: false,
  },
};

/** On a page of a list. */
export const NEXT_PAGE: Headers = {
  NextPage: textHeader(
    'Link',
    {
      description:
        'The URL of the next page (RFC 8288). Use it unchanged. Absent on the last page.',
      required: false,
      example: `<${PETS_URL}?limit=${LIMIT.default}&after=${LIMIT.default}>; rel="next"`,
      pattern: `^<https?://[^>]+${VERSION_PATH}/[^?>]+\\?limit=[0-9]+[^>]*>; rel="next"$`,
    },
    [1, MAX_URL],
  ),
};

/** On a 201. */
export const LOCATION: Headers = {
  Location: textHeader(
    'Location',
    {
      description: 'The URL of the new resource.',
      example: `${PETS_URL}/7`,
      pattern: `^https?://.+${VERSION_PATH}/.+/[0-9]+$`,
    },
    [1, MAX_URL],
  ),
};

/** The beginning of each `WWW-Authenticate`. The attributes after it are shorter than what is added to its length. */
const CHALLENGE = 'Bearer realm="animal-store"';

/** On errors. */
const ERROR_HEADERS: Headers = {
  Challenge: textHeader(
    'WWW-Authenticate',
    {
      description: 'The challenge (RFC 6750), with an error if the request carries a key.',
      example: CHALLENGE,
      pattern: `^${CHALLENGE}(, error="invalid_token")?$`,
    },
    [1, CHALLENGE.length + 33],
  ),
  InsufficientScope: textHeader(
    'WWW-Authenticate',
    {
      description: 'The challenge (RFC 6750), with the scope that the key lacks.',
      // The 403 for plain http has none.
      required: false,
      example: `${CHALLENGE}, error="insufficient_scope", scope="write"`,
      pattern: `^${CHALLENGE}, error="insufficient_scope", scope="(read|write)"$`,
    },
    [1, CHALLENGE.length + 53],
  ),
  Accept: textHeader(
    'Accept',
    {
      description: 'The media types that the operation accepts.',
      example: 'application/json',
      pattern: '^application/json(, application/merge-patch\\+json)?$',
    },
    [1, 60],
  ),
  AcceptPatch: textHeader(
    'Accept-Patch',
    {
      description: 'The media types that the operation accepts (RFC 5789).',
      example: 'application/json, application/merge-patch+json',
      pattern: '^application/json, application/merge-patch\\+json$',
    },
    [1, 60],
  ),
  AcceptEncoding: {
    ...constantHeader('Accept-Encoding', 'identity', 'Present when the body is compressed.'),
    required: false,
  },
  RetryAfter: {
    name: 'Retry-After',
    description: 'Seconds to wait before the next request.',
    required: true,
    schema: { type: 'integer', format: 'int32', minimum: 1, maximum: 3600 },
    example: 10,
  },
};

export const HEADERS: Headers = {
  ...REQUEST_ID,
  ...BOOKMARK,
  ...REPLAYED,
  ...NEXT_PAGE,
  ...LOCATION,
  ...ERROR_HEADERS,
};

/**
 * The headers of errors with one status.
 *
 * @throws Error when a header is not described with its values, or not as required if all these errors have it, and only then.
 */
export function errorHeaders(errors: { headers: Record<string, string> }[]): Headers {
  const names = new Set(errors.flatMap(({ headers }) => Object.keys(headers)));
  return Object.fromEntries(
    Array.from(names, (name) => {
      const values = errors.flatMap(({ headers }) => headers[name] ?? []);
      const isOnAll = values.length === errors.length;
      // Two headers are named WWW-Authenticate: their values tell which of them is meant.
      const found = Object.entries(ERROR_HEADERS).find(
        ([, header]) =>
          header.name === name &&
          header.required === isOnAll &&
          values.every((value) => isValid(header.schema, value)),
      );
      if (!found)
        throw new Error(
          `ERROR_HEADERS must describe ${name} with the value ${values.join(' and ')}`,
        );
      return found;
    }),
  );
}

function isValid(schema: Text | Int32, value: string): boolean {
  if (schema.type === 'string') return new RegExp(schema.pattern).test(value);
  return Number(value) >= schema.minimum && Number(value) <= schema.maximum;
}
