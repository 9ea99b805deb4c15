import { createMiddleware } from 'hono/factory';
import type { AppEnv } from '../env.ts';
import { ApiError, type ErrorCode, serviceUnavailable } from '../errors.ts';
import { environmentOfKey } from '../keys/format.ts';
import { findKey } from '../keys/lookup.ts';
import { KEY_PREFIX, type KeyRecord, stateOf } from '../keys/record.ts';

/** Of every 401. With `, error="invalid_token"` when a key was sent. */
export const CHALLENGE = 'Bearer realm="animal-store"';

/** Lets a request pass that carries a valid API key (RFC 6750), and notes the key's id in the log. */
export const authenticate = createMiddleware<AppEnv>(async function authenticate(c, next) {
  c.header('Cache-Control', 'private, no-store');
  const key = bearerToken(c.req.header('Authorization'));

  const environment = environmentOfKey(key);
  if (!environment)
    throw invalidToken('invalid_api_key', 'This is not an API key of this service.');
  if (environment !== c.env.ENVIRONMENT) {
    throw invalidToken(
      'invalid_api_key',
      `This API key is for the ${environment} environment, this is ${c.env.ENVIRONMENT}.`,
    );
  }

  const record = await findKey(c, key);
  if (!record) {
    await requireLocalSetup(c.env);
    throw invalidToken('invalid_api_key', 'There is no such API key.');
  }
  c.set('keyId', record.id);
  refuseEndedKey(record);
  await next();
});

/** The credential of `Authorization: Bearer <credential>`, as it stands: it may still be anything. */
function bearerToken(header: string | undefined): string {
  const [, scheme = '', credential = ''] = /^([^ ]*) *(.*)$/.exec(header?.trim() ?? '') ?? [];
  // RFC 6750, section 3.1: no error code for a request without a bearer credential.
  if (scheme.toLowerCase() !== 'bearer' || credential === '') {
    throw new ApiError('missing_api_key', 'Send your API key: Authorization: Bearer <API_KEY>.', {
      headers: { 'WWW-Authenticate': CHALLENGE },
    });
  }
  return credential;
}

function refuseEndedKey(record: KeyRecord): void {
  const state = stateOf(record);
  if (state === 'revoked') throw invalidToken('revoked_api_key', 'This API key was revoked.');
  if (state === 'expired') {
    throw invalidToken('expired_api_key', `This API key expired at ${record.expiresAt}.`);
  }
}

function invalidToken(code: ErrorCode, message: string): ApiError {
  return new ApiError(code, message, {
    headers: { 'WWW-Authenticate': `${CHALLENGE}, error="invalid_token"` },
  });
}

/** On a developer's machine a store without any key was never set up: say so instead of "no such key". */
async function requireLocalSetup(env: Env): Promise<void> {
  if (env.ENVIRONMENT !== 'local') return;
  const { keys } = await env.API_KEYS.list({ prefix: KEY_PREFIX, limit: 1 });
  if (keys.length > 0) return;
  throw serviceUnavailable(
    'The local store is not set up yet.',
    new Error(
      'There is no API key in the local store. Run `npm start` once: it sets the store up.',
    ),
  );
}
