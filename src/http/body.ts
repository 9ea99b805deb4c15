import type { Context } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { DeadlineError, withDeadline } from '../deadline.ts';
import { ApiError } from '../errors.ts';
import { parseJson } from './json.ts';

export const MAX_BODY_BYTES = 16 * 1024;

export const JSON_TYPE = 'application/json';
/** RFC 7396. */
const MERGE_PATCH_TYPE = 'application/merge-patch+json';
/** The media types of every PATCH. */
export const PATCH_TYPES: readonly string[] = [JSON_TYPE, MERGE_PATCH_TYPE];

/** The error of a body's schema. */
export const NOT_AN_OBJECT = { error: 'must be a JSON object' };

/** Deadline for a client to send its body, in milliseconds. */
export const BODY_DEADLINE_MS = 30_000;

/** Maximum length of a `Content-Type` that is parsed, in characters. */
const MAX_CONTENT_TYPE = 256;

/** The runtime's errors when a client disconnects. */
const DISCONNECTED = /client disconnected|connection lost/;

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false });

const limitBody = bodyLimit({
  maxSize: MAX_BODY_BYTES,
  onError: () => {
    throw bodyTooLarge();
  },
});

/**
 * Reads a body of one of `mediaTypes`: uncompressed, UTF-8, at most `MAX_BODY_BYTES`. Hono's `c.req.json()` would replace
 * invalid UTF-8 and round integers: see `parseJson`.
 *
 * @throws ApiError 400, 413 or 415 when the body cannot be read.
 */
export async function readJson(
  c: Context,
  mediaTypes: readonly string[] = [JSON_TYPE],
): Promise<unknown> {
  requireJson(c, mediaTypes);
  return decodeJson(await readBody(c));
}

function requireJson(c: Context, mediaTypes: readonly string[]): void {
  const type = parseMediaType(c.req.header('Content-Type') ?? '');
  if (!type || !mediaTypes.includes(type.essence)) throw unsupportedMediaType(mediaTypes);
  if (type.charset !== undefined && !UTF8_CHARSETS.includes(type.charset)) {
    throw unsupportedCharset(mediaTypes);
  }
  const coding = c.req.header('Content-Encoding')?.trim().toLowerCase() ?? 'identity';
  if (coding !== 'identity') throw compressedBody(mediaTypes);
}

/** US-ASCII is a subset of UTF-8. */
const UTF8_CHARSETS = ['utf-8', 'us-ascii'];

/** A parameter of a media type: its name, and its value as a token or a quoted string (RFC 9110, section 5.6.6). */
const PARAMETER = /[ \t]*;[ \t]*(?:([^\s;="]+)=("(?:[^"\\]|\\.)*"|[^\s;"]*))?[ \t]*/y;

/**
 * The media type in lower case without parameters, and its charset if it has one. Other parameters are ignored
 * (RFC 2045, section 5.1); RFC 8259 defines no charset, but clients send `charset=utf-8`.
 *
 * @returns undefined for an invalid or very long header.
 */
function parseMediaType(header: string): { essence: string; charset?: string } | undefined {
  if (header.length > MAX_CONTENT_TYPE) return undefined;
  const [essence = ''] = header.split(';', 1);
  let charset: string | undefined;
  PARAMETER.lastIndex = essence.length;
  while (PARAMETER.lastIndex < header.length) {
    const parameter = PARAMETER.exec(header);
    if (!parameter) return undefined;
    const [, name = '', value = ''] = parameter;
    if (name.toLowerCase() === 'charset') charset ??= value.replaceAll('"', '').toLowerCase();
  }
  return { essence: essence.trim().toLowerCase(), ...(charset !== undefined && { charset }) };
}

async function readBody(c: Context): Promise<ArrayBuffer> {
  const reading = limitBody(c, async () => {
    await c.req.arrayBuffer();
  });
  try {
    await withDeadline(reading, BODY_DEADLINE_MS, 'The client');
  } catch (error) {
    const isTimeout = error instanceof DeadlineError;
    if (!isTimeout && !(error instanceof Error && DISCONNECTED.test(error.message))) throw error;
    throw new ApiError('invalid_request', 'The body is incomplete.', { cause: error });
  }
  // Hono has cached the body.
  return c.req.arrayBuffer();
}

function decodeJson(bytes: ArrayBuffer): unknown {
  if (bytes.byteLength === 0) throw new ApiError('invalid_json', 'The body must not be empty.');
  return parseJson(decodeUtf8(bytes));
}

function decodeUtf8(bytes: ArrayBuffer): string {
  try {
    return UTF8.decode(bytes);
  } catch (error) {
    // https://encoding.spec.whatwg.org/#dom-textdecoder-decode
    if (error instanceof TypeError) {
      throw new ApiError('invalid_json', 'The body must be valid UTF-8.');
    }
    throw error;
  }
}

export function bodyTooLarge(): ApiError {
  return new ApiError('body_too_large', `The body must be at most ${MAX_BODY_BYTES} bytes.`);
}

export function unsupportedMediaType(mediaTypes: readonly string[]): ApiError {
  return new ApiError(
    'unsupported_media_type',
    'The body must be JSON in UTF-8: send the header Content-Type: application/json.',
    { headers: accepted(mediaTypes) },
  );
}

function unsupportedCharset(mediaTypes: readonly string[]): ApiError {
  return new ApiError(
    'unsupported_media_type',
    'The body must be encoded in UTF-8: leave out the charset of the header Content-Type.',
    { headers: accepted(mediaTypes) },
  );
}

export function compressedBody(mediaTypes: readonly string[]): ApiError {
  return new ApiError(
    'unsupported_media_type',
    'The body must not be compressed: leave out the header Content-Encoding.',
    // RFC 9110, section 15.5.16: Accept-Encoding shows that the coding is the problem, not the media type.
    { headers: { ...accepted(mediaTypes), 'Accept-Encoding': 'identity' } },
  );
}

/** The headers that name the accepted media types (RFC 9110, section 15.5.16; RFC 5789, section 2.2). */
function accepted(mediaTypes: readonly string[]): Record<string, string> {
  const types = mediaTypes.join(', ');
  return mediaTypes.includes(MERGE_PATCH_TYPE)
    ? { Accept: types, 'Accept-Patch': types }
    : { Accept: types };
}
