/** Requests generated from the description: the service accepts the valid ones, and rejects the others. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { operations } from './contract.ts';
import { startApp } from './in-process.ts';
import { REPEAT } from './repeat.ts';
import { startStore } from './store.ts';
import { character, characters, INT64, invalid, resolve, valid } from './values.ts';

const store = startStore();
const send = startApp(store);

/** Over HTTP. */
const ACCEPTED = { numRuns: 20 * REPEAT };
/** In this process. */
const REJECTED = { numRuns: 25 * ACCEPTED.numRuns };

const NewPet = resolve('NewPet');
const fields = Object.entries(NewPet.properties ?? {});
const required = NewPet.required ?? [];

/** A member of a JSON object. */
const member = (field: string, value: fc.Arbitrary<string>) =>
  value.map((text) => `"${field}":${text}`);
const object = (members: fc.Arbitrary<string>[]) =>
  fc.tuple(...members).map((all) => `{${all.filter((text) => text !== '').join(',')}}`);
const newPet = object(
  fields.map(([field, schema]) =>
    required.includes(field)
      ? member(field, valid(schema, field))
      : fc.oneof(member(field, valid(schema, field)), fc.constant('')),
  ),
);

/** The query parameters of listPets, without the cursor, which only the service can make. */
const parameters = operations
  .filter(({ operation }) => operation.operationId === 'listPets')
  .flatMap(({ operation }) => operation.parameters ?? [])
  .filter((parameter) => parameter.in === 'query' && parameter.name !== 'cursor');
const query = (pairs: [parameter: string, value: string][]) =>
  pairs.map((pair) => pair.map(encodeURIComponent).join('=')).join('&');
const validPairs = fc
  .tuple(
    ...parameters.map((parameter) =>
      valid(parameter.schema).map((json): [string, string] => [
        parameter.name,
        json.replaceAll('"', ''),
      ]),
    ),
  )
  .chain((pairs) => fc.subarray(pairs));

test('listPets accepts every valid query', async () => {
  await store.create({ name: 'Rex', categoryId: 1 });
  await fc.assert(
    fc.asyncProperty(validPairs, async (pairs) => {
      expect((await store.fetch(`/v1/pets?${query(pairs)}`)).status).toBe(200);
    }),
    ACCEPTED,
  );
});

test('listPets rejects a query with an invalid, unknown or repeated parameter', async () => {
  const text = fc.string({ unit: character });
  const invalidPair = fc.oneof(
    fc.tuple(
      fc.constant('limit'),
      fc.oneof(
        fc.constantFrom('0', '101', '-1', '1.5', '1e1', '0x10', ' 5', ''),
        fc.bigInt({ min: 101n }).map(String),
      ),
    ),
    fc.tuple(fc.constant('status'), fc.constantFrom('SOLD', 'sold,pending', 'null', '')),
    fc.tuple(fc.constant('cursor'), text),
    fc.tuple(fc.constantFrom('Limit', 'offset', '__proto__', ''), text),
    fc.tuple(
      text.map((end) => `x${end}`),
      text,
    ),
  );
  const repeated = fc.constantFrom('limit=1&limit=1', 'status=sold&status=pending');
  const invalidQuery = fc.oneof(
    fc.tuple(validPairs, invalidPair).map(([pairs, pair]) => query([...pairs, pair])),
    repeated,
  );
  await fc.assert(
    fc.asyncProperty(invalidQuery, async (text) => {
      expect((await send('GET', `/v1/pets?${text}`)).status).toBe(400);
    }),
    REJECTED,
  );
});

test('createPet accepts every valid body, and returns it', async () => {
  await fc.assert(
    fc.asyncProperty(newPet, async (body) => {
      const reply = await store.create(body);
      expect(reply.status, reply.text).toBe(201);
      expect(reply.text.replace(/^\{"id":[0-9]+,/, '{')).toBe(body);
    }),
    ACCEPTED,
  );
});

test('createPet rejects a body that is not an object, or has an invalid, missing or unknown field', async () => {
  const withInvalid = fields.map(([invalidField]) =>
    object(
      fields.map(([field, schema]) =>
        member(field, field === invalidField ? invalid(schema, field) : valid(schema, field)),
      ),
    ),
  );
  const withMissing = required.map((missingField) =>
    object(
      fields
        .filter(([field]) => field !== missingField)
        .map(([field, schema]) => member(field, valid(schema, field))),
    ),
  );
  const withUnknown = fc
    .tuple(newPet, fc.string(), fc.json())
    .map(([body, field, value]) => `${body.slice(0, -1)},${JSON.stringify(`x${field}`)}:${value}}`);
  const notAnObject = fc.oneof(fc.json(), fc.string()).filter((text) => !/^\s*\{/.test(text));
  const invalidBody = fc.oneof(...withInvalid, ...withMissing, withUnknown, notAnObject);
  await fc.assert(
    fc.asyncProperty(invalidBody, async (body) => {
      const reply = await send('POST', '/v1/pets', body);
      expect(reply.status, `${body} ${reply.text}`).toBe(400);
    }),
    { numRuns: 2 * REJECTED.numRuns },
  );
});

test('getPet returns a 404 for every int64 that is not an id', async () => {
  const id = fc.oneof(fc.bigInt(INT64), fc.constantFrom(INT64.min, INT64.max, 0n, -1n));
  await fc.assert(
    fc.asyncProperty(id, async (petId) => {
      expect((await store.fetch(`/v1/pets/${petId}`)).status).toBe(404);
    }),
    ACCEPTED,
  );
});

test('getPet rejects an id that is not an int64', async () => {
  const id = fc.oneof(
    fc.bigInt({ min: INT64.max + 1n, max: INT64.max * 1000n }).map(String),
    fc.bigInt({ min: INT64.min * 1000n, max: INT64.min - 1n }).map(String),
    fc.constantFrom('1.5', '1e3', '0x10', '+1', '--1', '-', 'null'),
    characters(20).map((text) => `x${text}`),
  );
  await fc.assert(
    fc.asyncProperty(id, async (petId) => {
      const reply = await send('GET', `/v1/pets/${encodeURIComponent(petId)}`);
      expect(reply.status, petId).toBe(400);
    }),
    REJECTED,
  );
});
