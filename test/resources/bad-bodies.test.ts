/** Bodies that the operations reject before D1 is reached: `send` has no D1. */
import { expect, test } from 'vitest';
import { startApp } from '../in-process.ts';
import { expectError } from '../orders/steps.ts';
import { startStore } from '../store.ts';

const send = startApp(startStore());

const INT64 = 'must be an integer from -9223372036854775808 to 9223372036854775807';
const FIELDS = 'is not a known field: name, categoryId, status';

test.each<[method: string, path: string, body: string, message: string]>([
  ['POST', '/v1/pets', '[]', 'body: must be a JSON object'],
  [
    'POST',
    '/v1/pets',
    '{"status":"SOLD"}',
    'name: is required; categoryId: is required; status: must be one of available, pending, sold',
  ],
  [
    'POST',
    '/v1/pets',
    '{"name":"Rex","categoryId":1.5,"status":null}',
    `categoryId: ${INT64}; status: must not be null: omit it for an animal without a status`,
  ],
  ['PATCH', '/v1/pets/1', '{}', 'body: must have at least one field'],
  ['PATCH', '/v1/pets/1', '{"name":null,"x":1}', `name: must be a string; x: ${FIELDS}`],
  ['PATCH', '/v1/pets/1', '{"x":1}', `x: ${FIELDS}`],
  ['POST', '/v1/store/orders', '{"petId":9223372036854775808}', `petId: ${INT64}`],
  ['POST', '/v1/store/orders', '{"x":1}', 'petId: is required; x: is not a known field: petId'],
  ['PATCH', '/v1/store/orders/1', '{}', 'status: is required'],
  [
    'PATCH',
    '/v1/store/orders/1',
    '{"status":["placed"]}',
    'status: must be one of placed, approved, delivered, cancelled',
  ],
])('%s %s rejects %s', async (method, path, body, message) => {
  expectError(await send(method, path, body), 400, 'invalid_request', message);
});

test.each([
  ['must not be empty', '""'],
  ['must contain a visible character', '"  "'],
  ['must contain a visible character', '"\\u200b\\u200d\\ufeff"'],
  ['must not contain control characters', '"a\\u0000b"'],
  ['must not contain a lone surrogate', '"a\\ud800"'],
  ['must be at most 255 characters long', `"${'🐶'.repeat(256)}"`],
])('a 400 says that a name %s', async (problem, name) => {
  const reply = await send('POST', '/v1/pets', `{"name":${name},"categoryId":1}`);
  expectError(reply, 400, 'invalid_request', `name: ${problem}`);
});

test.each([
  ['__proto__', '__proto__'],
  ['', '""'],
  ['\\ud800', '\ufffd'],
  ['x'.repeat(64), 'x'.repeat(64)],
  ['x'.repeat(65), `${'x'.repeat(64)}…`],
  [`${'x'.repeat(63)}🐕`, `${'x'.repeat(63)}\ufffd…`],
])('the unknown field "%s" is a 400', async (field, shown) => {
  const reply = await send('POST', '/v1/pets', `{"name":"Rex","categoryId":1,"${field}":1}`);
  expectError(reply, 400, 'invalid_request', `${shown}: ${FIELDS}`);
});

test.each(['/v1/pets/1', '/v1/store/orders/1'])(
  '%s may be changed by a merge patch',
  async (path) => {
    const sendAs = (type: string) => send('PATCH', path, '{}', { 'content-type': type });
    const read = await sendAs('application/merge-patch+json; charset=utf-8');
    expect(read.status).toBe(400);
    const compressed = { 'content-encoding': 'gzip' };
    const types = 'application/json, application/merge-patch+json';
    for (const { status, headers } of [
      await sendAs('application/json-patch+json'),
      await send('PATCH', path, '{}', compressed),
    ]) {
      const accepted = [headers.get('accept'), headers.get('accept-patch')];
      expect([status, ...accepted]).toEqual([415, types, types]);
    }
  },
);
