/** What a client should do about each error code: for the README. A resource's description has the advice for its own codes. */
import { type ErrorCode, STATUS_OF } from '../src/errors.ts';
import type { ResourceDescription } from './describe.ts';

const COMMON: Partial<Record<ErrorCode, string>> = {
  invalid_json: 'Send valid JSON in UTF-8.',
  invalid_request: 'Fix the problems in the message.',
  missing_api_key: 'Send the header `Authorization: Bearer <API_KEY>`.',
  invalid_api_key: 'Check that the key is complete and belongs to this environment.',
  expired_api_key: 'Ask the operator for a new key.',
  revoked_api_key: 'Ask the operator for a new key.',
  insufficient_scope: 'Use a key with the scope `write`.',
  https_required: 'Use https, and replace the key: it was sent unencrypted.',
  not_found: 'Check the path.',
  method_not_allowed: 'Use a method that the `Allow` header lists.',
  body_too_large: 'Send a smaller body.',
  unsupported_media_type: 'Send `Content-Type: application/json`, in UTF-8 and uncompressed.',
  idempotency_key_reused: 'Use a new `Idempotency-Key` for another body.',
  rate_limited: 'Wait for the seconds in `Retry-After`, then send fewer requests.',
  internal_error: 'Report it with the `X-Request-Id` of the response.',
  service_unavailable:
    'Wait for the seconds in `Retry-After`, then follow [retries](docs/api.md#retries).',
};

/**
 * The status, the code and the advice of every error, in the order of the codes.
 *
 * @throws Error when an error code has no advice.
 */
export function errorAdvice(resources: ResourceDescription[]) {
  const all: Partial<Record<string, string>> = Object.assign(
    { ...COMMON },
    ...resources.map(({ advice }) => advice),
  );
  return Object.entries(STATUS_OF).map(([code, status]) => {
    const advice = all[code];
    if (!advice) throw new Error(`no description has advice for the error code ${code}`);
    return { status, code, advice };
  });
}
