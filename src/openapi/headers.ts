/** What the description says of response headers. */
import { TOKEN } from '../http/bookmark.ts';

export type Header = {
  description: string;
  required: boolean;
  schema: { type: 'string'; pattern: string };
  example: string;
};
export type Headers = Record<string, Header>;

/** A header that each such response has; `required: false` for one that only some have. */
export function header(
  description: string,
  example: string,
  pattern: string,
  required = true,
): Header {
  return { description, required, schema: { type: 'string', pattern }, example };
}

/** A header with one of these values. */
export function oneOf(description: string, values: string[], required = true): Header {
  const texts = [...new Set(values)].map((text) => text.replaceAll(/[()[\]{}.*+?^$|\\]/g, '\\$&'));
  const pattern = texts.length > 1 ? `^(${texts.join('|')})$` : `^${texts[0]}$`;
  return header(description, values[0] ?? '', pattern, required);
}

export const REQUEST_ID: Headers = {
  'X-Request-Id': header(
    'Names the request in our log. Quote it when you report a problem.',
    '0b0c2f0e-5a0e-4c57-9d4a-3f1d3c1f7a11',
    '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$',
  ),
};

/** Of a response to a request that carried `X-D1-Bookmark`, once a query was answered. */
export const BOOKMARK: Headers = {
  'X-D1-Bookmark': header(
    'The state that this response has seen: present when the request carried one. Send it with the next.',
    '00000085-0000024c-00004c6d-8e61117bf38d7adb71b934ebbf891683',
    TOKEN.source,
    false,
  ),
};

export const REPLAYED: Headers = {
  'Idempotency-Replayed': oneOf(
    'This is the answer to an earlier request with the same Idempotency-Key.',
    ['true'],
    false,
  ),
};

/** Of a list. */
export function nextPage(path: string): Headers {
  return {
    Link: header(
      'The next page (RFC 8288), to be followed as it is. Absent on the last page.',
      `<https://api.animal-store.example/v1${path}?limit=20&cursor=MS4uMi4xNmVmMzR1>; rel="next"`,
      `^<https?://[^>]+/v1${path}\\?limit=[0-9]+[^>]*>; rel="next"$`,
      false,
    ),
  };
}

/** Of a create. */
export function location(path: string): Headers {
  return {
    Location: header(
      'The address of what was created.',
      `https://api.animal-store.example/v1${path}/7`,
      `^https?://.+/v1${path}/[0-9]+$`,
    ),
  };
}

/** What is said of the headers that errors carry. */
export const ERROR_HEADERS: Record<string, string> = {
  'WWW-Authenticate': 'The challenge (RFC 6750): with an error when a key was sent.',
  Accept: 'The media types that are accepted.',
  'Accept-Encoding': 'Present when the compression of the body was refused.',
  Allow: 'The methods of the path.',
  'Retry-After': 'Seconds to wait.',
};
