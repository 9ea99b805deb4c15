/** Reads request bodies: JSON in UTF-8, uncompressed, at most 16 KiB. */
import type { Context, MiddlewareHandler } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import type * as z from 'zod/mini';
import { DeadlineError, withDeadline } from '../deadline.ts';
import { ApiError } from '../errors.ts';
import { parseBody } from './json.ts';
import { invalidPart } from './problems.ts';

export const MAX_BODY_BYTES = 16 * 1024;

export const JSON_TYPE = 'application/json';
/** RFC 7396. */
const MERGE_PATCH_TYPE = 'application/merge-patch+json';
export const PATCH_TYPES: readonly string[] = [JSON_TYPE, MERGE_PATCH_TYPE];

/** RFC 8259 defines no parameter, but clients send one. */
const CHARSET = /^(?:charset=("?)utf-8\1)?$/i;
/** A list, whose elements may be empty (RFC 9110, section 5.6.1.2). */
const UNCOMPRESSED = /^[ \t,]*(?:identity[ \t,]*)?$/i;

export const BODY_DEADLINE_MS = 30_000;

/** workerd's errors when a client disconnects before it has sent its body. */
const DISCONNECTED = /client disconnected|connection lost/;

// `ignoreBOM: false` removes a byte order mark.
const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false });

const limitBody = bodyLimit({
  maxSize: MAX_BODY_BYTES,
  onError: () => {
    throw bodyTooLarge();
  },
});

/**
 * Not `zValidator`: its `c.req.json()` replaces invalid UTF-8, and rounds integers beyond 2^53.
 *
 * @throws ApiError 400, 413 or 415.
 */
export function validateBody(
  schema: z.ZodMiniObject,
  mediaTypes: readonly string[] = [JSON_TYPE],
): MiddlewareHandler {
  return async function validateBody(c, next) {
    const { data, error } = schema.safeParse(await readBody(c, mediaTypes));
    if (error) throw invalidPart(error);
    c.req.addValidatedData('json', data);
    await next();
  };
}

async function readBody(c: Context, mediaTypes: readonly string[]): Promise<unknown> {
  requireContentType(c, mediaTypes);
  requireUncompressed(c, mediaTypes);
  const bytes = await readBytes(c);
  if (bytes.byteLength === 0) throw new ApiError('invalid_json', 'The body must not be empty.');
  return parseBody(decodeUtf8(bytes));
}

function requireContentType(c: Context, mediaTypes: readonly string[]): void {
  const header = c.req.header('Content-Type') ?? '';
  const [mediaType = '', ...parameters] = header.split(';').map((part) => part.trim());
  const [charset = '', ...others] = parameters.filter((parameter) => parameter !== '');
  const isAccepted = mediaTypes.includes(mediaType.toLowerCase());
  if (!isAccepted || !CHARSET.test(charset) || others.length > 0)
    throw unsupportedMediaType(mediaTypes);
}

function requireUncompressed(c: Context, mediaTypes: readonly string[]): void {
  if (!UNCOMPRESSED.test(c.req.header('Content-Encoding') ?? '')) throw compressedBody(mediaTypes);
}

async function readBytes(c: Context): Promise<ArrayBuffer> {
  // With a Content-Length, `bodyLimit` checks only that number: the callback reads the body.
  // https://github.com/honojs/hono/pull/2109
  const reading = limitBody(c, async () => {
    await c.req.arrayBuffer();
  });
  try {
    await withDeadline(reading, BODY_DEADLINE_MS, 'The client');
  } catch (error) {
    if (!isIncomplete(error)) throw error;
    throw new ApiError('invalid_request', 'body: is incomplete', { cause: error });
  }
  // Hono has kept the bytes.
  return c.req.arrayBuffer();
}

function isIncomplete(error: unknown): boolean {
  if (error instanceof DeadlineError) return true;
  return error instanceof Error && DISCONNECTED.test(error.message);
}

function decodeUtf8(bytes: ArrayBuffer): string {
  try {
    return UTF8.decode(bytes);
  } catch {
    throw new ApiError('invalid_json', 'The body must be valid UTF-8.');
  }
}

export function bodyTooLarge(): ApiError {
  return new ApiError('body_too_large', `The body must be at most ${MAX_BODY_BYTES} bytes.`);
}

export function unsupportedMediaType(mediaTypes: readonly string[]): ApiError {
  return new ApiError(
    'unsupported_media_type',
    'The body must be JSON in UTF-8: send the header Content-Type: application/json once, with no parameter but charset=utf-8.',
    { headers: acceptHeaders(mediaTypes) },
  );
}

export function compressedBody(mediaTypes: readonly string[]): ApiError {
  return new ApiError(
    'unsupported_media_type',
    'The body must not be compressed: leave out the header Content-Encoding.',
    // RFC 9110, section 15.5.16: the coding is the problem, not the media type.
    { headers: { ...acceptHeaders(mediaTypes), 'Accept-Encoding': 'identity' } },
  );
}

/** RFC 9110, section 15.5.16; RFC 5789, section 2.2. */
function acceptHeaders(mediaTypes: readonly string[]): Record<string, string> {
  const types = mediaTypes.join(', ');
  return mediaTypes.includes(MERGE_PATCH_TYPE)
    ? { Accept: types, 'Accept-Patch': types }
    : { Accept: types };
}
