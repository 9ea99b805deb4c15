/** Authentication and authorization with API keys (RFC 6750). */
import type { Context } from 'hono';
import type { Scope } from '../definition.ts';
import type { AppEnv } from '../env.ts';
import { ApiError, type ErrorCode } from '../errors.ts';
import { environmentOfKey } from './keys/format.ts';
import { cachedRecord, findRecord } from './keys/lookup.ts';
import { type KeyRecord, scopesOf, stateOf } from './keys/record.ts';
import { limitAddress } from './rate-limit.ts';

/** `WWW-Authenticate` of every 401. If the request carries a key, `, error="invalid_token"` is appended. */
export const CHALLENGE = 'Bearer realm="animal-store"';

/**
 * Accepts a request with a valid API key, and sets its client.
 *
 * @throws ApiError 401 when the key is missing or invalid; 429 when its address sent too many invalid keys;
 *   503 when the key cannot be verified.
 */
export async function authenticate(c: Context<AppEnv>): Promise<void> {
  const key = bearerCredential(c.req.header('Authorization') ?? '');

  const record = cachedRecord(c, key) ?? (await lookUpKey(c, key));
  const { id: keyId, family } = record;
  c.set('client', { keyId, id: family ?? keyId, scopes: scopesOf(record) });
  const state = stateOf(record);
  if (state !== 'active') {
    await limitAddress(c);
    throw inactiveApiKey(state, record.expiresAt);
  }
}

/** The record of a key that is not in the cache, and so may be malformed. */
async function lookUpKey(c: Context<AppEnv>, key: string): Promise<KeyRecord> {
  const environment = environmentOfKey(key);
  if (!environment) {
    throw invalidToken('invalid_api_key', 'The API key is malformed. Check that it is complete.');
  }
  if (environment !== c.env.ENVIRONMENT) {
    throw invalidToken(
      'invalid_api_key',
      `This API key is for the ${environment} environment; this is ${c.env.ENVIRONMENT}.`,
    );
  }
  const record = await findRecord(c, key);
  if (record) return record;
  await limitAddress(c);
  throw unknownApiKey();
}

/**
 * @throws ApiError 403 when the request's key does not have the scope that the operation needs
 *   (RFC 6750, section 3.1).
 */
export function requireScope(c: Context<AppEnv>, scope: Scope): void {
  if (!c.get('client').scopes.includes(scope)) throw insufficientScope(scope);
}

export function insufficientScope(scope: Scope): ApiError {
  return new ApiError('insufficient_scope', `This API key does not have the scope ${scope}.`, {
    headers: { 'WWW-Authenticate': `${CHALLENGE}, error="insufficient_scope", scope="${scope}"` },
  });
}

const SCHEME = 'bearer ';

/** The credential of `Authorization: Bearer <credential>`, unvalidated. The scheme is case-insensitive. */
function bearerCredential(header: string): string {
  const credential = header.slice(SCHEME.length).trim();
  // RFC 6750, section 3.1: no error code for a request without a bearer credential.
  if (header.slice(0, SCHEME.length).toLowerCase() !== SCHEME || credential === '') {
    throw missingApiKey();
  }
  return credential;
}

export function missingApiKey(): ApiError {
  return new ApiError(
    'missing_api_key',
    'An API key is required: send the header Authorization: Bearer <API_KEY>.',
    {
      headers: { 'WWW-Authenticate': CHALLENGE },
    },
  );
}

export function unknownApiKey(): ApiError {
  return invalidToken('invalid_api_key', 'Unknown API key.');
}

export function inactiveApiKey(state: 'revoked' | 'expired', expiresAt?: string | null): ApiError {
  return state === 'revoked'
    ? invalidToken('revoked_api_key', 'This API key was revoked.')
    : invalidToken('expired_api_key', `This API key expired at ${expiresAt}.`);
}

function invalidToken(code: ErrorCode, message: string): ApiError {
  return new ApiError(code, message, {
    headers: { 'WWW-Authenticate': `${CHALLENGE}, error="invalid_token"` },
  });
}
