import type { Context } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { createMiddleware } from 'hono/factory';
import type { AppEnv } from '../env.ts';
import { ApiError } from '../errors.ts';
import { parseJson } from '../json.ts';

export const MAX_BODY_BYTES = 16 * 1024;

const limitBody = bodyLimit({
  maxSize: MAX_BODY_BYTES,
  onError: () => {
    throw new ApiError('body_too_large', `The body must be at most ${MAX_BODY_BYTES} bytes.`);
  },
});

/**
 * Reads the body for `validate('json', …)`: `application/json`, uncompressed, at most 16 KiB, in
 * UTF-8, integers exact. Hono's own reading would take a body of another media type for `{}`, replace
 * bytes that are not UTF-8 silently, and round integers past 2^53.
 */
export const jsonBody = createMiddleware<AppEnv>(async function jsonBody(c, next) {
  requireJson(c);
  const body = decodeJson(await readBody(c));
  // The validator reads the body with c.req.json(), which has no other way in.
  Object.defineProperty(c.req, 'json', { value: async () => body });
  await next();
});

function requireJson(c: Context<AppEnv>): void {
  // RFC 8259 defines no charset parameter; clients send charset=utf-8 all the same, which is true.
  const [mediaType, ...parameters] = (c.req.header('Content-Type') ?? '')
    .toLowerCase()
    .split(';')
    .map((part) => part.trim());
  const known = ['', 'charset=utf-8', 'charset="utf-8"'];
  if (mediaType !== 'application/json' || !parameters.every((part) => known.includes(part))) {
    throw new ApiError(
      'unsupported_media_type',
      'The body must be JSON in UTF-8: send the header Content-Type: application/json.',
      { headers: { Accept: 'application/json' } },
    );
  }
  const coding = c.req.header('Content-Encoding')?.trim().toLowerCase() ?? 'identity';
  if (coding !== 'identity') {
    throw new ApiError(
      'unsupported_media_type',
      'The body must not be compressed: leave out the header Content-Encoding.',
      // RFC 9110, 15.5.16: Accept-Encoding tells that the coding, not the media type, is the matter.
      { headers: { Accept: 'application/json', 'Accept-Encoding': 'identity' } },
    );
  }
}

async function readBody(c: Context<AppEnv>): Promise<ArrayBuffer> {
  let bytes = new ArrayBuffer(0);
  try {
    await limitBody(c, async () => {
      bytes = await c.req.arrayBuffer();
    });
  } catch (error) {
    if (error instanceof ApiError) throw error;
    // A client that hung up: nobody reads the answer, but it is no mistake of ours in the log either.
    throw new ApiError('invalid_request', 'The body did not arrive whole.', { cause: error });
  }
  return bytes;
}

function decodeJson(bytes: ArrayBuffer): unknown {
  if (bytes.byteLength === 0) throw new ApiError('invalid_json', 'The body is empty.');
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false }).decode(bytes);
  } catch {
    throw new ApiError('invalid_json', 'The body is not valid UTF-8.');
  }
  try {
    return parseJson(text);
  } catch (error) {
    const isTooDeep = error instanceof RangeError;
    throw new ApiError(
      'invalid_json',
      `The body is ${isTooDeep ? 'nested too deeply' : 'not valid JSON'}.`,
    );
  }
}
