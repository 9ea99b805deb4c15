/** Bodies that the operations reject before they reach D1. */
import { expect, test } from 'vitest';
import { MAX_NAME_LENGTH, NewPet, PetPatch, PetStatus } from '../../src/pets/schemas.ts';
import { creates, INT64, operations, readable } from '../support/contract.ts';
import { startApp } from '../support/in-process.ts';
import { expectError, stepsOf } from '../support/steps.ts';
import { startStore } from '../support/store.ts';

const store = startStore();
const { createExample } = stepsOf(store);
// In this process, where a request that reaches D1 is a 503.
const sendWithoutD1 = startApp(store);

/** Of each operation with a body: invalid bodies, each with its problem. */
const INVALID = operations.flatMap(({ exampleBody, fields, required, ...operation }) => {
  if (!exampleBody) return [];
  const known = Object.keys(fields).join(', ');
  return [
    { ...operation, body: [], problem: 'body: must be a JSON object' },
    {
      ...operation,
      body: { ...exampleBody, nmae: 1 },
      problem: `nmae: is not a known field: ${known}`,
    },
    ...required.map((field) => ({
      ...operation,
      body: { ...exampleBody, [field]: undefined },
      problem: `${field}: is required`,
    })),
  ];
});

test.each(INVALID)('$operationId rejects $body: $problem', async (each) => {
  const body = JSON.stringify(each.body);
  const reply = await sendWithoutD1(each.method, each.examplePath, body);
  expectError(reply, 400, 'invalid_request', expect.stringContaining(each.problem));
});

/**
 * Each text in the bodies of a create, and of the operations on what it creates, but for those with fixed values: as JSON has
 * them, with what UTF-8 or SQLite can change.
 */
const TEXTS = creates.flatMap((create) => {
  const paths = [create.examplePath, `${create.examplePath}/1`];
  const own = operations.filter(({ examplePath }) => paths.includes(examplePath));
  return own.flatMap(({ fields, ...operation }) =>
    Object.entries(fields).flatMap(([field, { type, enum: values }]) => {
      if (type !== 'string' || values) return [];
      return ['a\\ud800b', 'a\\u0000b', ' '].map((text) => ({ ...operation, create, field, text }));
    }),
  );
});

test.each(TEXTS)('$operationId rejects the $field $text, or stores exactly that', async (each) => {
  const { create, method, examplePath, exampleBody, field } = each;
  const text: string = JSON.parse(`"${each.text}"`);
  // Its id is 1.
  await createExample(create);
  const reply = await store.send(method, examplePath, { ...exampleBody, [field]: text });
  const { id = 1 } = Object(reply.body);
  const reads = readable([`${create.examplePath}/${id}`]).map((address) => store.fetch(address));
  const bodies = [reply, ...(await Promise.all(reads))].map(({ body }) => Object(body));
  const isStored = bodies.every((body) => body[field] === text);
  expect(reply.status === 400 || isStored, JSON.stringify(bodies)).toBe(true);
});

const knownOf = (shape: object) => `is not a known field: ${Object.keys(shape).join(', ')}`;
const KNOWN = knownOf(NewPet.shape);
const STATUS = `must be one of ${PetStatus.options.join(', ')}`;

const LONGEST = '🐶'.repeat(MAX_NAME_LENGTH);
const field = (name: string) => `{"name":"Rex","categoryId":1,"${name}":1}`;
const named = (name: string) => `{"name":"${name}","categoryId":1}`;

test.each([
  [
    '{"categoryId":1.5,"status":"SOLD"}',
    `name: is required; categoryId: ${INT64}; status: ${STATUS}`,
  ],
  [
    '{"name":"Rex","categoryId":1,"status":null}',
    'status: must not be null: omit it for an animal without a status',
  ],
  [named(''), 'name: must not be empty'],
  [named('\\u200b\\u200d\\ufeff'), 'name: must contain a visible character'],
  [named('a\\u0000b'), 'name: must not contain control characters'],
  [named('a\\ud800'), 'name: must not contain a lone surrogate'],
  [named(`${LONGEST}x`), `name: must be at most ${MAX_NAME_LENGTH} characters long`],
  [field('__proto__'), `__proto__: ${KNOWN}`],
  [field(''), `"": ${KNOWN}`],
  [field('\\ud800'), `\\ud800: ${KNOWN}`],
  ['{"\ufeffname":"Rex","categoryId":1}', `name: is required; \\ufeffname: ${KNOWN}`],
  ['{"name\u00a0":"Rex","categoryId":1}', `name: is required; name\\u00a0: ${KNOWN}`],
  ['{"name ":"Rex","categoryId":1}', `name: is required; name\\u0020: ${KNOWN}`],
  // The first letter is Cyrillic.
  ['{"name":"Rex","\u0441ategoryId":1}', `categoryId: is required; \\u0441ategoryId: ${KNOWN}`],
  // A name with a backslash is not mistaken for one with an escape.
  [field('\\\\ufeffname'), `\\u005cufeffname: ${KNOWN}`],
  ['{"name":"Rex","categoryId":"1"}', `categoryId: ${INT64}, not a string in quotes`],
  ['{"name":"Rex","categoryId":null}', `categoryId: ${INT64}`],
  [field('x'.repeat(64)), `${'x'.repeat(64)}: ${KNOWN}`],
  [field('x'.repeat(65)), `${'x'.repeat(64)}…: ${KNOWN}`],
  [field(`${'x'.repeat(58)}\u00a0`), `${'x'.repeat(58)}\\u00a0: ${KNOWN}`],
  [field(`${'x'.repeat(58)}🐕`), `${'x'.repeat(58)}\\ud83d…: ${KNOWN}`],
  // An escape is never cut.
  ...[59, 62, 63].map((length) => [
    field(`${'x'.repeat(length)}🐕`),
    `${'x'.repeat(length)}…: ${KNOWN}`,
  ]),
])('createPet rejects %s', async (body, message) => {
  expectError(await sendWithoutD1('POST', '/v1/pets', body), 400, 'invalid_request', message);
});

test.each([
  ['{}', 'body: must have at least one field'],
  ['{"nmae":1}', `nmae: ${knownOf(PetPatch.shape)}`],
  ['{"name":null}', 'name: must be a string'],
])('updatePet reads the merge patch %s, and rejects it', async (body, message) => {
  const headers = { 'content-type': 'application/merge-patch+json; charset=utf-8' };
  const reply = await sendWithoutD1('PATCH', '/v1/pets/1', body, headers);
  expectError(reply, 400, 'invalid_request', message);
});

test.each(operations.filter(({ method }) => method === 'PATCH'))(
  '$operationId names the types that it accepts in a 415',
  async (patch) => {
    const types = 'application/json, application/merge-patch+json';
    for (const [name, value] of [
      ['content-type', 'application/json-patch+json'],
      ['content-encoding', 'gzip'],
    ] as const) {
      const reply = await sendWithoutD1('PATCH', patch.examplePath, '{}', { [name]: value });
      expect(reply.status).toBe(415);
      expect(Object.fromEntries(reply.headers)).toMatchObject({
        accept: types,
        'accept-patch': types,
      });
    }
  },
);
