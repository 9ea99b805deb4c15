import type { Context } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { DeadlineError, withDeadline } from '../deadline.ts';
import { ApiError } from '../errors.ts';
import { parseJson } from './json.ts';

export const MAX_BODY_BYTES = 16 * 1024;

export const JSON_TYPE = 'application/json';
/** RFC 7396. */
export const MERGE_PATCH_TYPE = 'application/merge-patch+json';

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
  const contentType = c.req.header('Content-Type') ?? '';
  if (contentType.length > MAX_CONTENT_TYPE || !isJson(contentType, mediaTypes)) {
    throw unsupportedMediaType(mediaTypes);
  }
  const coding = c.req.header('Content-Encoding')?.trim().toLowerCase() ?? 'identity';
  if (coding !== 'identity') {
    throw compressedBody(mediaTypes);
  }
}

/** RFC 8259 defines no charset parameter, but clients send `charset=utf-8`, which is harmless. */
function isJson(contentType: string, mediaTypes: readonly string[]): boolean {
  const [mediaType, ...parameters] = contentType
    .toLowerCase()
    .split(';')
    .map((part) => part.trim());
  const known = ['', 'charset=utf-8', 'charset="utf-8"'];
  return mediaTypes.includes(mediaType ?? '') && parameters.every((part) => known.includes(part));
}

async function readBody(c: Context): Promise<ArrayBuffer> {
  try {
    return await withDeadline(readLimited(c), BODY_DEADLINE_MS, 'The client');
  } catch (error) {
    const isTimeout = error instanceof DeadlineError;
    if (!isTimeout && !(error instanceof Error && DISCONNECTED.test(error.message))) throw error;
    throw new ApiError('invalid_request', 'The body is incomplete.', { cause: error });
  }
}

async function readLimited(c: Context): Promise<ArrayBuffer> {
  const length = c.req.header('Content-Length');
  if (length !== undefined && c.req.header('Transfer-Encoding') === undefined) {
    if (Number(length) > MAX_BODY_BYTES) throw bodyTooLarge();
    return c.req.raw.arrayBuffer();
  }
  // Of unknown length: Hono counts the bytes while they are read, which takes longer.
  let bytes = new ArrayBuffer(0);
  await limitBody(c, async () => {
    bytes = await c.req.arrayBuffer();
  });
  return bytes;
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
    { headers: { Accept: mediaTypes.join(', ') } },
  );
}

export function compressedBody(mediaTypes: readonly string[]): ApiError {
  return new ApiError(
    'unsupported_media_type',
    'The body must not be compressed: leave out the header Content-Encoding.',
    // RFC 9110, section 15.5.16: Accept-Encoding shows that the coding is the problem, not the media type.
    { headers: { Accept: mediaTypes.join(', '), 'Accept-Encoding': 'identity' } },
  );
}
