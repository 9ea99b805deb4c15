/** Bodies that the operations reject before D1 is reached: `send` has no D1. */
import { expect, test } from 'vitest';
import { startApp } from '../in-process.ts';
import { expectError } from '../orders/steps.ts';
import { startStore } from '../store.ts';

const send = startApp(startStore());

const INT64 = 'must be an integer from -9223372036854775808 to 9223372036854775807';
const FIELDS = 'is not a known field: name, categoryId, status';

const OPERATIONS = {
  createPet: ['POST', '/v1/pets'],
  updatePet: ['PATCH', '/v1/pets/1'],
  placeOrder: ['POST', '/v1/store/orders'],
  updateOrder: ['PATCH', '/v1/store/orders/1'],
} as const;
type Operation = keyof typeof OPERATIONS;

test.each<[Operation, body: string, message: string]>([
  ['createPet', '[]', 'body: must be a JSON object'],
  [
    'createPet',
    '{"status":"SOLD"}',
    'name: is required; categoryId: is required; status: must be one of available, pending, sold',
  ],
  [
    'createPet',
    '{"name":"Rex","categoryId":1,"status":null}',
    'status: must not be null: omit it for an animal without a status',
  ],
  ['createPet', '{"name":"Rex","categoryId":1.5}', `categoryId: ${INT64}`],
  ['updatePet', '{}', 'body: must have at least one field'],
  ['updatePet', '{"name":null,"x":1}', `name: must be a string; x: ${FIELDS}`],
  ['updatePet', '{"x":1}', `x: ${FIELDS}`],
  ['placeOrder', '{"petId":9223372036854775808}', `petId: ${INT64}`],
  ['placeOrder', '{"x":1}', 'petId: is required; x: is not a known field: petId'],
  ['updateOrder', '{}', 'status: is required'],
  [
    'updateOrder',
    '{"status":["placed"]}',
    'status: must be one of placed, approved, delivered, cancelled',
  ],
])('%s rejects %s', async (operation, body, message) => {
  expectError(await send(...OPERATIONS[operation], body), 400, 'invalid_request', message);
});

test.each([
  ['""', 'must not be empty'],
  ['"  "', 'must contain a visible character'],
  ['"\\u200b\\u200d\\ufeff"', 'must contain a visible character'],
  ['"a\\u0000b"', 'must not contain control characters'],
  ['"a\\ud800"', 'must not contain a lone surrogate'],
  [`"${'🐶'.repeat(256)}"`, 'must be at most 255 characters long'],
])('the name %s is a 400', async (name, problem) => {
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
])('the unknown field "%s" is a 400 that shows its name', async (field, shown) => {
  const reply = await send('POST', '/v1/pets', `{"name":"Rex","categoryId":1,"${field}":1}`);
  expectError(reply, 400, 'invalid_request', `${shown}: ${FIELDS}`);
});

test.each<Operation>(['updatePet', 'updateOrder'])('%s reads a merge patch', async (operation) => {
  const sendAs = (type: string) =>
    send(...OPERATIONS[operation], '{}', { 'content-type': `application/${type}` });
  expect((await sendAs('merge-patch+json; charset=utf-8')).status).toBe(400);
  const { status, headers } = await sendAs('json-patch+json');
  const types = 'application/json, application/merge-patch+json';
  expect(status).toBe(415);
  expect([headers.get('accept'), headers.get('accept-patch')]).toEqual([types, types]);
});
