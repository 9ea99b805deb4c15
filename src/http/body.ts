/** Reads request bodies: JSON in UTF-8, uncompressed, at most 16 KiB. */
import type { Context } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { DeadlineError, withDeadline } from '../deadline.ts';
import { ApiError } from '../errors.ts';
import { parseBody } from './json.ts';

export const MAX_BODY_BYTES = 16 * 1024;

export const JSON_TYPE = 'application/json';
/** RFC 7396. */
const MERGE_PATCH_TYPE = 'application/merge-patch+json';
/** The media types of every PATCH. */
export const PATCH_TYPES: readonly string[] = [JSON_TYPE, MERGE_PATCH_TYPE];

/** A media type, and the only parameter that it may have. RFC 8259 defines none, but clients send `charset=utf-8`. */
const CONTENT_TYPE = /^([^\s;]+)[ \t]*(?:;[ \t;]*(?:charset=("?)utf-8\2[ \t;]*)?)?$/i;
/** A list, whose elements may be empty (RFC 9110, section 5.6.1.2). */
const UNCOMPRESSED = /^[ \t,]*(?:identity[ \t,]*)?$/i;

/** Deadline for a client to send its body, in milliseconds. */
export const BODY_DEADLINE_MS = 30_000;

/** The texts of workerd's errors when a client disconnects before it has sent its body. */
const DISCONNECTED = /client disconnected|connection lost/;

// The types of the runtime require both options. `ignoreBOM: false` removes a byte order mark.
const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false });

const limitBody = bodyLimit({
  maxSize: MAX_BODY_BYTES,
  onError: () => {
    throw bodyTooLarge();
  },
});

/**
 * Reads and parses the body of a request.
 *
 * @returns the value of the JSON, not yet validated. Its integers are exact (`parseBody`).
 * @throws ApiError 400, 413 or 415 when the body cannot be read.
 */
export async function readBody(
  c: Context,
  mediaTypes: readonly string[] = [JSON_TYPE],
): Promise<unknown> {
  requireContentType(c, mediaTypes);
  requireUncompressed(c, mediaTypes);
  const bytes = await readBytes(c);
  if (bytes.byteLength === 0) throw new ApiError('invalid_json', 'The body must not be empty.');
  return parseBody(decodeUtf8(bytes));
}

function requireContentType(c: Context, mediaTypes: readonly string[]): void {
  const [, mediaType = ''] = CONTENT_TYPE.exec(c.req.header('Content-Type') ?? '') ?? [];
  if (!mediaTypes.includes(mediaType.toLowerCase())) throw unsupportedMediaType(mediaTypes);
}

function requireUncompressed(c: Context, mediaTypes: readonly string[]): void {
  if (!UNCOMPRESSED.test(c.req.header('Content-Encoding') ?? '')) throw compressedBody(mediaTypes);
}

/** Reads at most `MAX_BODY_BYTES`. */
async function readBytes(c: Context): Promise<ArrayBuffer> {
  // With a Content-Length, `bodyLimit` checks only that number and reads nothing, so the callback reads the body, within the
  // deadline. Without one, `bodyLimit` reads and counts the body, and puts it into a new `c.req.raw`.
  // https://github.com/honojs/hono/pull/2109
  const reading = limitBody(c, async () => {
    await c.req.arrayBuffer();
  });
  try {
    // Logged as `The client did not respond within 30000 ms`.
    await withDeadline(reading, BODY_DEADLINE_MS, 'The client');
  } catch (error) {
    if (!isIncomplete(error)) throw error;
    throw new ApiError('invalid_request', 'body: is incomplete', { cause: error });
  }
  // Hono has kept the bytes.
  return c.req.arrayBuffer();
}

/** Whether the client did not send all of its body. */
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
    // RFC 9110, section 15.5.16: Accept-Encoding shows that the coding is the problem, not the media type.
    { headers: { ...acceptHeaders(mediaTypes), 'Accept-Encoding': 'identity' } },
  );
}

/** The headers that name the accepted media types (RFC 9110, section 15.5.16; RFC 5789, section 2.2). */
function acceptHeaders(mediaTypes: readonly string[]): Record<string, string> {
  const types = mediaTypes.join(', ');
  return mediaTypes.includes(MERGE_PATCH_TYPE)
    ? { Accept: types, 'Accept-Patch': types }
    : { Accept: types };
}
