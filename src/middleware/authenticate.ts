import { createMiddleware } from 'hono/factory';
import type { AppEnv } from '../env.ts';
import { ApiError, type ErrorCode, serviceUnavailable } from '../errors.ts';
import { environmentOfKey } from '../keys/format.ts';
import { findKey } from '../keys/lookup.ts';
import { KEY_PREFIX, stateOf } from '../keys/record.ts';
import { limitAddress } from './rate-limit.ts';

/** `WWW-Authenticate` of every 401. With `, error="invalid_token"` when a key was sent. */
export const CHALLENGE = 'Bearer realm="animal-store"';

/** Admits requests with a valid API key (RFC 6750), and notes the key's id in the log. */
export const authenticate = createMiddleware<AppEnv>(async function authenticate(c, next) {
  c.header('Cache-Control', 'private, no-store');
  const key = bearerCredential(c.req.header('Authorization') ?? '');

  const environment = environmentOfKey(key);
  if (!environment) {
    throw invalidToken('invalid_api_key', 'This is not an API key of this service.');
  }
  if (environment !== c.env.ENVIRONMENT) {
    throw invalidToken(
      'invalid_api_key',
      `This API key is for the ${environment} environment, this is ${c.env.ENVIRONMENT}.`,
    );
  }

  const record = await findKey(c, key);
  if (!record) {
    await limitAddress(c);
    await requireLocalSetup(c.env);
    throw invalidToken('invalid_api_key', 'There is no such API key.');
  }
  c.set('keyId', record.id);
  c.set('keyFamily', record.family ?? record.id);
  const state = stateOf(record);
  if (state !== 'active') {
    await limitAddress(c);
    throw state === 'revoked'
      ? invalidToken('revoked_api_key', 'This API key was revoked.')
      : invalidToken('expired_api_key', `This API key expired at ${record.expiresAt}.`);
  }
  await next();
});

const SCHEME = 'bearer ';

/** The credential of `Authorization: Bearer <credential>`, unvalidated. The scheme is in any case. */
function bearerCredential(header: string): string {
  const credential = header.slice(SCHEME.length).trim();
  // RFC 6750, section 3.1: no error code for a request without a bearer credential.
  if (header.slice(0, SCHEME.length).toLowerCase() !== SCHEME || credential === '') {
    throw new ApiError('missing_api_key', 'Send your API key: Authorization: Bearer <API_KEY>.', {
      headers: { 'WWW-Authenticate': CHALLENGE },
    });
  }
  return credential;
}

function invalidToken(code: ErrorCode, message: string): ApiError {
  return new ApiError(code, message, {
    headers: { 'WWW-Authenticate': `${CHALLENGE}, error="invalid_token"` },
  });
}

/** A local store without any key was never set up: says so instead of "no such key". */
async function requireLocalSetup(env: Env): Promise<void> {
  if (env.ENVIRONMENT !== 'local') return;
  const { keys } = await env.API_KEYS.list({ prefix: KEY_PREFIX, limit: 1 });
  if (keys.length > 0) return;
  throw serviceUnavailable(
    'The local store is not set up yet.',
    new Error('There is no API key in the local store. To set the store up, run `npm start` once.'),
  );
}
