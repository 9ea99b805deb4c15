/** Bodies that the operations reject before D1 is reached: `send` has no D1. */
import { describe, expect, test } from 'vitest';
import { startApp } from '../in-process.ts';
import { expectError } from '../orders/steps.ts';
import { startStore } from '../store.ts';

const store = startStore();
const send = startApp(store);

const INT64 = 'must be an integer from -9223372036854775808 to 9223372036854775807';
const PET_STATUS = 'status: must be one of available, pending, sold';
const ORDER_STATUS = 'status: must be one of placed, approved, delivered, cancelled';

const PATCH_TYPES = 'application/json, application/merge-patch+json';

const OPERATIONS = {
  createPet: { method: 'POST', path: '/v1/pets', members: '"name":"Rex","categoryId":1' },
  updatePet: { method: 'PATCH', path: '/v1/pets/1', members: '"status":null' },
  placeOrder: { method: 'POST', path: '/v1/store/orders', members: '"petId":1' },
  updateOrder: { method: 'PATCH', path: '/v1/store/orders/1', members: '"status":"approved"' },
};
type Operation = keyof typeof OPERATIONS;

function sendTo(operation: Operation, body: string, type = 'application/json') {
  const { method, path } = OPERATIONS[operation];
  return send(method, path, body, { 'content-type': type });
}

async function expectInvalid(operation: Operation, body: string, message: string) {
  expectError(await sendTo(operation, body), 400, 'invalid_request', message);
}

describe.each<[Operation, known: string, accept: string, acceptPatch: string | null]>([
  ['createPet', 'name, categoryId, status', 'application/json', null],
  ['updatePet', 'name, categoryId, status', PATCH_TYPES, PATCH_TYPES],
  ['placeOrder', 'petId', 'application/json', null],
  ['updateOrder', 'status', PATCH_TYPES, PATCH_TYPES],
])('%s rejects', (operation, known, accept, acceptPatch) => {
  const { members } = OPERATIONS[operation];

  test('an array', () => expectInvalid(operation, '[]', 'body: must be a JSON object'));

  test('an unknown field, and lists the known ones', () =>
    expectInvalid(operation, `{${members},"id":1}`, `id: is not a known field: ${known}`));

  test('another media type, and names its own', async () => {
    const reply = await sendTo(operation, `{${members}}`, 'application/json-patch+json');
    expectError(reply, 415, 'unsupported_media_type', expect.any(String));
    const { headers } = reply;
    expect([headers.get('accept'), headers.get('accept-patch')]).toEqual([accept, acceptPatch]);
  });
});

test.each<Operation>(['updatePet', 'updateOrder'])('%s reads a merge patch', async (operation) => {
  const reply = await sendTo(operation, '{"x":1}', 'application/merge-patch+json; charset=utf-8');
  expectError(reply, 400, 'invalid_request', expect.stringContaining('x: is not a known field'));
});

test.each([
  ['null', 'must be a string'],
  ['""', 'must not be empty'],
  ['"  "', 'must contain a visible character'],
  ['"\\u200b\\u200d\\ufeff"', 'must contain a visible character'],
  ['"a\\u0000b"', 'must not contain control characters'],
  ['"a\\ud800"', 'must not contain a lone surrogate'],
  [`"${'🐶'.repeat(256)}"`, 'must be at most 255 characters long'],
])('createPet and updatePet reject the name %s', async (name, problem) => {
  await expectInvalid('createPet', `{"name":${name},"categoryId":1}`, `name: ${problem}`);
  await expectInvalid('updatePet', `{"name":${name}}`, `name: ${problem}`);
});

test.each([
  ['__proto__', '__proto__'],
  ['', '""'],
  ['\\ud800', '\ufffd'],
  ['x'.repeat(64), 'x'.repeat(64)],
  ['x'.repeat(65), `${'x'.repeat(64)}…`],
  [`${'x'.repeat(63)}🐕`, `${'x'.repeat(63)}\ufffd…`],
])('createPet rejects the field "%s"', (field, shown) =>
  expectInvalid(
    'createPet',
    `{"name":"Rex","categoryId":1,"${field}":1}`,
    `${shown}: is not a known field: name, categoryId, status`,
  ),
);

const NULL_STATUS = 'status: must not be null: omit it for an animal without a status';

test.each<[Operation, body: string, message: string]>([
  ['createPet', '{"status":"SOLD"}', `name: is required; categoryId: is required; ${PET_STATUS}`],
  ['createPet', '{"name":"Rex","categoryId":1,"status":null}', NULL_STATUS],
  ['createPet', '{"name":"Rex","categoryId":1.5}', `categoryId: ${INT64}`],
  ['updatePet', '{}', 'body: must have at least one field'],
  ['updatePet', '{"x":1}', 'x: is not a known field: name, categoryId, status'],
  [
    'updatePet',
    '{"name":null,"x":1}',
    'name: must be a string; x: is not a known field: name, categoryId, status',
  ],
  ['placeOrder', '{"petId":9223372036854775808}', `petId: ${INT64}`],
  ['placeOrder', '{"x":1}', 'petId: is required; x: is not a known field: petId'],
  ['updateOrder', '{}', 'status: is required'],
  ['updateOrder', '{"status":["placed"]}', ORDER_STATUS],
])('%s rejects %s', expectInvalid);
