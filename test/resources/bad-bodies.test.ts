/** Bodies that the operations reject before D1 is reached: `send` has no D1. */
import { describe, expect, test } from 'vitest';
import { startApp } from '../in-process.ts';
import { startStore } from '../store.ts';

const store = startStore();
const send = startApp(store);

const INT64 = 'must be an integer from -9223372036854775808 to 9223372036854775807';
const PET_STATUS = 'status: must be one of available, pending, sold';
const ORDER_STATUS = 'status: must be one of placed, approved, delivered, cancelled';
const TWICE = 'must be given only once';

type Target = { method: string; path: string };
const createPet = { method: 'POST', path: '/v1/pets' };
const updatePet = { method: 'PATCH', path: '/v1/pets/1' };
const placeOrder = { method: 'POST', path: '/v1/store/orders' };
const updateOrder = { method: 'PATCH', path: '/v1/store/orders/1' };

async function expectInvalid({ method, path }: Target, body: string, message: string) {
  const reply = await send(method, path, body);
  expect(reply.body).toEqual({ code: 'invalid_request', message, status: 400 });
  expect(reply.status).toBe(400);
}

/** `members` are those of a valid body. */
describe.each([
  {
    ...{ operation: 'createPet', target: createPet, members: '"name":"Rex","categoryId":1' },
    repeated: `name: ${TWICE}; categoryId: ${TWICE}`,
  },
  {
    ...{ operation: 'updatePet', target: updatePet, members: '"status":null' },
    repeated: `status: ${TWICE}`,
  },
  {
    ...{ operation: 'placeOrder', target: placeOrder, members: '"petId":1' },
    repeated: `petId: ${TWICE}`,
  },
  {
    ...{ operation: 'updateOrder', target: updateOrder, members: '"status":"approved"' },
    repeated: `status: ${TWICE}`,
  },
])('$operation rejects', ({ target, members, repeated }) => {
  test.each(['[]', 'null', '"Rex"', '7', `[{${members}}]`])('%s, not an object', (body) =>
    expectInvalid(target, body, 'body: must be a JSON object'),
  );

  test.each(['id', '__proto__', 'constructor', 'placedAt'])('the unknown field %s', (field) =>
    expectInvalid(target, `{${members},"${field}":1}`, `${field}: is not a known field`),
  );

  test('repeated fields', () => expectInvalid(target, `{${members},${members}}`, repeated));

  test.each([
    { is: 'empty', body: '', status: 400, code: 'invalid_json' },
    { is: 'not JSON', body: '{', status: 400, code: 'invalid_json' },
    { is: 'two texts', body: `{${members}}{}`, status: 400, code: 'invalid_json' },
    {
      is: 'nested 33 deep',
      body: '['.repeat(33) + ']'.repeat(33),
      status: 400,
      code: 'invalid_json',
    },
    { is: 'too large', body: `{${members}}`.padEnd(16_385), status: 413, code: 'body_too_large' },
  ])('a body that is $is', async ({ body, status, code }) => {
    const reply = await send(target.method, target.path, body);
    expect(reply.body).toEqual({ code, message: expect.any(String), status });
    expect(reply.status).toBe(status);
  });

  test.each([
    'text/plain',
    'application/problem+json',
    'application/json-patch+json',
    'application/json; charset=iso-8859-1',
  ])('a body of the type %s', async (type) => {
    const reply = await send(target.method, target.path, `{${members}}`, { 'content-type': type });
    expect(reply.body).toMatchObject({ code: 'unsupported_media_type', status: 415 });
    expect(reply.status).toBe(415);
  });
});

describe('an int64 is a JSON number with an integer value in range, so createPet rejects', () => {
  test.each([
    ...['1.5', '"3"', 'null', 'true', '[1]', '{}', '1.00000000000000000001', '1e-400', '1e400'],
    ...['1e1000000000', '9223372036854775808', '-9223372036854775809', '-1e19'],
  ])('%s', (value) =>
    expectInvalid(createPet, `{"name":"Rex","categoryId":${value}}`, `categoryId: ${INT64}`),
  );
});

describe('createPet rejects', () => {
  test.each([
    ['{}', 'name: is required; categoryId: is required'],
    ['{"name":null,"categoryId":1}', 'name: must be a string'],
    ['{"name":7,"categoryId":1}', 'name: must be a string'],
    ['{"name":["Rex"],"categoryId":1}', 'name: must be a string'],
    ['{"name":"","categoryId":1}', 'name: must not be empty'],
    ['{"name":"  ","categoryId":1}', 'name: must contain a visible character'],
    ['{"name":"\\u200b\\u200d\\ufeff","categoryId":1}', 'name: must contain a visible character'],
    ['{"name":"a\\u0000b","categoryId":1}', 'name: must not contain control characters'],
    ['{"name":"a\\nb","categoryId":1}', 'name: must not contain control characters'],
    ['{"name":"a\\u0085b","categoryId":1}', 'name: must not contain control characters'],
    ['{"name":"a\\ud800","categoryId":1}', 'name: must not contain a lone surrogate'],
    [`{"name":"${'🐶'.repeat(256)}","categoryId":1}`, 'name: must be at most 255 characters long'],
    ['{"name":"Rex","categoryId":1,"status":"SOLD"}', PET_STATUS],
    ['{"name":"Rex","categoryId":1,"status":""}', PET_STATUS],
    [
      '{"name":"Rex","categoryId":1,"status":null}',
      'status: must not be null: omit it for an animal without a status',
    ],
    ['{"name":"Rex","categoryId":1,"categoryI\\u0064":1}', `categoryId: ${TWICE}`],
    ['{"name":"Rex","categoryId":1,"":1}', '"": is not a known field'],
    ['{"name":"Rex","categoryId":1,"\\ud800":1}', '\ufffd: is not a known field'],
    [
      `{"name":"Rex","categoryId":1,"${'🐕'.repeat(100)}":1}`,
      `${'🐕'.repeat(64)}…: is not a known field`,
    ],
    [
      '{"nmae":"Rex","category_id":1,"status":"SOLD","id":1}',
      `name: is required; categoryId: is required; ${PET_STATUS}; nmae: is not a known field, did you mean name?; category_id: is not a known field, did you mean categoryId?; id: is not a known field`,
    ],
  ])('%s', (body, message) => expectInvalid(createPet, body, message));
});

describe('updatePet rejects', () => {
  test.each([
    ['{}', 'body: must have at least one field'],
    ['{"id":5}', 'id: is not a known field'],
    ['{"name":null}', 'name: must be a string'],
    ['{"name":""}', 'name: must not be empty'],
    ['{"name":"a\\nb"}', 'name: must not contain control characters'],
    ['{"categoryId":null}', `categoryId: ${INT64}`],
    ['{"categoryId":9223372036854775808}', `categoryId: ${INT64}`],
    ['{"status":"placed"}', PET_STATUS],
    ['{"status":1}', PET_STATUS],
    ['{"nmae":"Max"}', 'nmae: is not a known field, did you mean name?'],
    ['{"name":null,"x":1}', 'name: must be a string; x: is not a known field'],
  ])('%s', (body, message) => expectInvalid(updatePet, body, message));
});

describe('placeOrder rejects', () => {
  test.each([
    ['{"petId":null}', `petId: ${INT64}`],
    ['{"petId":9223372036854775808}', `petId: ${INT64}`],
    ['{"petid":1}', 'petId: is required; petid: is not a known field, did you mean petId?'],
    ['{"petId":1,"status":"placed"}', 'status: is not a known field'],
  ])('%s', (body, message) => expectInvalid(placeOrder, body, message));
});

describe('updateOrder rejects', () => {
  test.each([
    ['{}', 'status: is required'],
    ['{"status":null}', ORDER_STATUS],
    ['{"status":"sold"}', ORDER_STATUS],
    ['{"status":"PLACED"}', ORDER_STATUS],
    ['{"status":["approved"]}', ORDER_STATUS],
    ['{"status":"approved","petId":5}', 'petId: is not a known field'],
  ])('%s', (body, message) => expectInvalid(updateOrder, body, message));
});

const MERGE_PATCH = 'application/merge-patch+json';

test.each([createPet, placeOrder])('a 415 of $method $path names JSON alone', async (target) => {
  const reply = await send(target.method, target.path, '{}', { 'content-type': MERGE_PATCH });
  expect(reply.status).toBe(415);
  expect(reply.headers.get('accept')).toBe('application/json');
  expect(reply.headers.has('accept-patch')).toBe(false);
});

test.each([updatePet, updateOrder])('a 415 of $method $path names both types', async (target) => {
  const reply = await send(target.method, target.path, '{}', { 'content-type': 'text/plain' });
  expect(reply.status).toBe(415);
  expect(reply.headers.get('accept')).toBe(`application/json, ${MERGE_PATCH}`);
  expect(reply.headers.get('accept-patch')).toBe(`application/json, ${MERGE_PATCH}`);
});
