/** Authentication with API keys (RFC 6750). */
import type { Context } from 'hono';
import type { AppEnv, Client } from '../context.ts';
import { ApiError, type ErrorCode } from '../errors.ts';
import type { Scope } from '../operation/definition.ts';
import { environmentOfKey } from './key-format.ts';
import { findRecord } from './key-lookup.ts';
import { type KeyRecord, scopesOf, stateOf } from './key-record.ts';

const CHALLENGE = 'Bearer realm="animal-store"';

/**
 * Sets the client even if the key is revoked, for the log line.
 *
 * @throws ApiError 401; 503 when the key cannot be verified; Error when its record is invalid.
 */
export async function authenticate(c: Context<AppEnv>): Promise<Client> {
  const key = bearerCredential(c.req.header('Authorization') ?? '');
  requireFormat(key, c.env.ENVIRONMENT);
  const record = await findRecord(c, key);
  if (!record) throw unknownApiKey(c.env.ENVIRONMENT);
  const { id: keyId, family } = record;
  const client = { keyId, id: family ?? keyId, scopes: scopesOf(record) };
  c.set('client', client);
  const state = stateOf(record);
  if (state === 'revoked') throw revokedApiKey();
  if (state === 'expired') throw expiredApiKey(record);
  return client;
}

function requireFormat(key: string, expected: string): void {
  const environment = environmentOfKey(key);
  if (!environment) {
    throw invalidToken(
      'invalid_api_key',
      'The API key is malformed. It must be complete, and nothing else may be there, such as quotes.',
    );
  }
  if (environment !== expected) {
    throw invalidToken(
      'invalid_api_key',
      `This API key is for the ${environment} environment; this is ${expected}.`,
    );
  }
}

/** RFC 6750, section 3.1. */
export function insufficientScope(scope: Scope): ApiError {
  return new ApiError('insufficient_scope', `This API key does not have the scope ${scope}.`, {
    headers: { 'WWW-Authenticate': `${CHALLENGE}, error="insufficient_scope", scope="${scope}"` },
  });
}

/** Letters alone, so that a message cannot show a key that was sent without a scheme. */
const SCHEME = /^[a-z]{1,20}(?= )/i;

function bearerCredential(header: string): string {
  const [scheme = ''] = SCHEME.exec(header) ?? [];
  // `Bearer` without a key counts as missing, too: the runtime removes its space.
  if (scheme.toLowerCase() !== 'bearer') throw missingApiKey(scheme);
  return header.slice(scheme.length).replace(/^ +/, '');
}

/** Without a credential, the challenge has no attribute `error` (RFC 6750, section 3.1). */
export function missingApiKey(otherScheme = ''): ApiError {
  const mistake = otherScheme && `, not ${otherScheme}`;
  return new ApiError(
    'missing_api_key',
    `An API key is required: send the header Authorization: Bearer <API_KEY>${mistake}.`,
    { headers: { 'WWW-Authenticate': CHALLENGE } },
  );
}

export function unknownApiKey(environment: string): ApiError {
  const fix = environment === 'local' ? ' npm start sets the local store and its key up.' : '';
  return invalidToken('invalid_api_key', `Unknown API key.${fix}`);
}

export function revokedApiKey(): ApiError {
  return invalidToken('revoked_api_key', 'This API key was revoked.');
}

export function expiredApiKey({ expiresAt }: Pick<KeyRecord, 'expiresAt'>): ApiError {
  return invalidToken('expired_api_key', `This API key expired at ${expiresAt}.`);
}

function invalidToken(code: ErrorCode, message: string): ApiError {
  return new ApiError(code, message, {
    headers: { 'WWW-Authenticate': `${CHALLENGE}, error="invalid_token"` },
  });
}
