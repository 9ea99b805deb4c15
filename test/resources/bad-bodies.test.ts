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
const TWICE = 'must be given only once';

const TARGETS = {
  createPet: { method: 'POST', path: '/v1/pets' },
  updatePet: { method: 'PATCH', path: '/v1/pets/1' },
  placeOrder: { method: 'POST', path: '/v1/store/orders' },
  updateOrder: { method: 'PATCH', path: '/v1/store/orders/1' },
};
type Operation = keyof typeof TARGETS;

function sendTo(operation: Operation, body: string, type = 'application/json') {
  const { method, path } = TARGETS[operation];
  return send(method, path, body, { 'content-type': type });
}

async function expectInvalid(operation: Operation, body: string, message: string) {
  expectError(await sendTo(operation, body), 400, 'invalid_request', message);
}

describe.each<[Operation, members: string, repeated: string]>([
  ['createPet', '"name":"Rex","categoryId":1', `name: ${TWICE}; categoryId: ${TWICE}`],
  ['updatePet', '"status":null', `status: ${TWICE}`],
  ['placeOrder', '"petId":1', `petId: ${TWICE}`],
  ['updateOrder', '"status":"approved"', `status: ${TWICE}`],
])('%s with the members %s rejects', (operation, members, repeated) => {
  test.each(['[]', 'null', '"Rex"', '7', `[{${members}}]`])('%s, not an object', (body) =>
    expectInvalid(operation, body, 'body: must be a JSON object'),
  );

  test('them twice', () => expectInvalid(operation, `{${members},${members}}`, repeated));

  test('a query', async () => {
    const { method, path } = TARGETS[operation];
    const reply = await send(method, `${path}?dryRun=1`, `{${members}}`);
    expectError(reply, 400, 'invalid_request', 'dryRun: is not a known parameter');
  });

  test('an unknown field', () =>
    expectInvalid(operation, `{${members},"id":1}`, 'id: is not a known field'));

  test.each([
    ['empty', '', 400, 'invalid_json'],
    ['not JSON', '{', 400, 'invalid_json'],
    ['two texts', `{${members}}{}`, 400, 'invalid_json'],
    ['nested 33 deep', '['.repeat(33) + ']'.repeat(33), 400, 'invalid_json'],
    ['larger than 16 KiB', `{${members}}`.padEnd(16_385), 413, 'body_too_large'],
  ])('a body that is %s', async (_, body, status, code) => {
    expectError(await sendTo(operation, body), status, code, expect.any(String));
  });

  test.each(['text/plain', 'application/json-patch+json', 'application/json; charset=latin1'])(
    'the type %s',
    async (type) => {
      const reply = await sendTo(operation, `{${members}}`, type);
      expectError(reply, 415, 'unsupported_media_type', expect.any(String));
    },
  );
});

const PATCH_TYPES = 'application/json, application/merge-patch+json';

test.each<[Operation, accept: string, acceptPatch: string | null]>([
  ['createPet', 'application/json', null],
  ['placeOrder', 'application/json', null],
  ['updatePet', PATCH_TYPES, PATCH_TYPES],
  ['updateOrder', PATCH_TYPES, PATCH_TYPES],
])('a 415 of %s has Accept: %s and Accept-Patch: %s', async (operation, accept, acceptPatch) => {
  const { headers } = await sendTo(operation, '{}', 'application/json-patch+json');
  expect([headers.get('accept'), headers.get('accept-patch')]).toEqual([accept, acceptPatch]);
});

test.each<[Operation, status: number, code: string]>([
  ['createPet', 415, 'unsupported_media_type'],
  ['placeOrder', 415, 'unsupported_media_type'],
  ['updatePet', 400, 'invalid_request'],
  ['updateOrder', 400, 'invalid_request'],
])('an empty merge patch is for %s a %i', async (operation, status, code) => {
  const reply = await sendTo(operation, '{}', 'application/merge-patch+json');
  expectError(reply, status, code, expect.any(String));
});

test.each([
  ...['1.5', '"3"', 'null', 'true', '[1]', '{}', '1.00000000000000000001', '1e-400', '1e400'],
  ...['1e1000000000', '9223372036854775808', '-9223372036854775809', '-1e19'],
])('createPet rejects the category %s, not an int64', (value) =>
  expectInvalid('createPet', `{"name":"Rex","categoryId":${value}}`, `categoryId: ${INT64}`),
);

test.each([
  ['null', 'must be a string'],
  ['7', 'must be a string'],
  ['["Rex"]', 'must be a string'],
  ['""', 'must not be empty'],
  ['"  "', 'must contain a visible character'],
  ['"\\u200b\\u200d\\ufeff"', 'must contain a visible character'],
  ['"a\\u0000b"', 'must not contain control characters'],
  ['"a\\nb"', 'must not contain control characters'],
  ['"a\\u0085b"', 'must not contain control characters'],
  ['"a\\ud800"', 'must not contain a lone surrogate'],
  [`"${'🐶'.repeat(256)}"`, 'must be at most 255 characters long'],
])('createPet and updatePet reject the name %s', async (name, problem) => {
  await expectInvalid('createPet', `{"name":${name},"categoryId":1}`, `name: ${problem}`);
  await expectInvalid('updatePet', `{"name":${name}}`, `name: ${problem}`);
});

test.each([
  ['__proto__', '__proto__: is not a known field'],
  ['constructor', 'constructor: is not a known field'],
  ['', '"": is not a known field'],
  ['\\ud800', '\ufffd: is not a known field'],
  ['🐕'.repeat(100), `${'🐕'.repeat(64)}…: is not a known field`],
  ['stauts', 'stauts: is not a known field, did you mean status?'],
  ['category_id', 'category_id: is not a known field, did you mean categoryId?'],
  ['categoryI\\u0064', `categoryId: ${TWICE}`],
])('createPet rejects the field "%s"', (field, message) =>
  expectInvalid('createPet', `{"name":"Rex","categoryId":1,"${field}":1}`, message),
);

const NULL_STATUS = 'status: must not be null: omit it for an animal without a status';

test.each<[Operation, body: string, message: string]>([
  ['createPet', '{"status":"SOLD"}', `name: is required; categoryId: is required; ${PET_STATUS}`],
  ['createPet', '{"name":"Rex","categoryId":1,"status":null}', NULL_STATUS],
  ['updatePet', '{}', 'body: must have at least one field'],
  ['updatePet', '{"id":5}', 'id: is not a known field'],
  ['updatePet', '{"categoryId":null}', `categoryId: ${INT64}`],
  ['updatePet', '{"categoryId":9223372036854775808}', `categoryId: ${INT64}`],
  ['updatePet', '{"status":"placed"}', PET_STATUS],
  ['updatePet', '{"status":""}', PET_STATUS],
  ['updatePet', '{"name":null,"x":1}', 'name: must be a string; x: is not a known field'],
  ['placeOrder', '{"petId":null}', `petId: ${INT64}`],
  ['placeOrder', '{"petId":9223372036854775808}', `petId: ${INT64}`],
  ['placeOrder', '{"x":1}', 'petId: is required; x: is not a known field'],
  ['placeOrder', '{"petId":1,"status":"placed"}', 'status: is not a known field'],
  ['updateOrder', '{}', 'status: is required'],
  ['updateOrder', '{"status":null}', ORDER_STATUS],
  ['updateOrder', '{"status":"sold"}', ORDER_STATUS],
  ['updateOrder', '{"status":["approved"]}', ORDER_STATUS],
  ['updateOrder', '{"status":"approved","petId":5}', 'petId: is not a known field'],
])('%s rejects %s', expectInvalid);
