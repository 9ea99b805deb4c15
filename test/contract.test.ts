/** Requests made from the description: what it calls valid is taken, the rest is refused as described. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { description, operations, type Schema } from './contract.ts';
import { type Reply, startStore } from './store.ts';

const store = startStore();
const RUNS = { numRuns: 300 };

/** Values of a schema, as JSON text: an int64 would lose digits as a value. */
function valid(schema: Schema): fc.Arbitrary<string> {
  if (schema.$ref) return valid(resolve(schema.$ref));
  if (schema.enum) return fc.constantFrom(...schema.enum).map((value) => JSON.stringify(value));
  if (schema.type === 'integer') {
    const [least, greatest] = [schema.minimum, schema.maximum];
    const min = least === undefined ? -(2n ** 63n) : BigInt(least);
    const max = greatest === undefined ? 2n ** 63n - 1n : BigInt(greatest);
    return fc.oneof(fc.bigInt({ min, max }), fc.constantFrom(min, max)).map(String);
  }
  if (schema.type === 'string') {
    const { pattern = '', maxLength = 1000 } = schema;
    return fc
      .oneof(fc.stringMatching(new RegExp(pattern, 'u')), fc.string({ unit: 'binary', maxLength }))
      .filter((text) => new RegExp(pattern, 'u').test(text) && [...text].length <= maxLength)
      .filter((text) => text.isWellFormed() && /[^\p{White_Space}\p{Cf}]/u.test(text))
      .map((text) => JSON.stringify(text));
  }
  const members = Object.entries(schema.properties ?? {}).map(([name, property]) => {
    const member = valid(property).map((value) => `${JSON.stringify(name)}:${value}`);
    return schema.required?.includes(name) ? member : fc.option(member, { nil: undefined });
  });
  return fc.tuple(...members).map((all) => `{${all.filter((member) => member).join(',')}}`);
}

function resolve(reference: string): Schema {
  const schema = description.components.schemas[reference.split('/').at(-1) ?? ''];
  if (!schema) throw new Error(`no schema ${reference}`);
  return schema;
}

function operation(id: string) {
  const found = operations.find(({ operation: { operationId } }) => operationId === id);
  if (!found) throw new Error(`no operation ${id}`);
  return found;
}

/** Query strings of valid values: each parameter may be left out. (A cursor is made by the service.) */
function validQuery(id: string): fc.Arbitrary<string[]> {
  const parameters = operation(id).operation.parameters ?? [];
  return fc
    .tuple(
      ...parameters
        .filter((parameter) => parameter.in === 'query' && parameter.name !== 'cursor')
        .map(({ name, schema }) =>
          fc.option(
            valid(schema).map(
              (value) => `${name}=${encodeURIComponent(value.replaceAll('"', ''))}`,
            ),
            { nil: '' },
          ),
        ),
    )
    .map((pairs) => pairs.filter((pair) => pair !== ''));
}

/** What no parameter and no field may be. */
const junk = fc.oneof(
  fc.constantFrom(
    '0',
    '101',
    '-1',
    '1.5',
    '1e3',
    '0x10',
    '9223372036854775808',
    'null',
    'SOLD',
    '',
  ),
  fc.string({ unit: 'binary' }),
);

function refused({ status, text }: Reply, expected: number[]): void {
  expect(expected, text).toContain(status);
}

test('listPets takes every valid query', async () => {
  await fc.assert(
    fc.asyncProperty(validQuery('listPets'), async (pairs) => {
      expect((await store.fetch(`/v1/pets?${pairs.join('&')}`)).status).toBe(200);
    }),
    RUNS,
  );
});

test('listPets answers any other query as described', async () => {
  const pair = fc
    .tuple(
      fc.oneof(fc.constantFrom('limit', 'status', 'cursor'), fc.string({ unit: 'binary' })),
      junk,
    )
    .map(([name, value]) =>
      [name, value].map((part) => encodeURIComponent(part.toWellFormed())).join('='),
    );
  await fc.assert(
    fc.asyncProperty(
      validQuery('listPets'),
      fc.array(pair, { minLength: 1, maxLength: 3 }),
      async (some, bad) => {
        refused(await store.fetch(`/v1/pets?${[...some, ...bad].join('&')}`), [200, 400]);
      },
    ),
    RUNS,
  );
});

test('createPet takes every valid body, and gives it back', async () => {
  await fc.assert(
    fc.asyncProperty(valid(resolve('NewPet')), async (body) => {
      const reply = await store.create(body);
      expect(reply.status, reply.text).toBe(201);
      expect(reply.text.replace(/^\{"id":[0-9]+,/, '{')).toBe(body);
    }),
    RUNS,
  );
});

test('createPet refuses any other body as described', async () => {
  const without = (body: string, name: string) => {
    const { [name]: _, ...rest } = JSON.parse(body) as Record<string, unknown>;
    return JSON.stringify(rest);
  };
  const value = fc.oneof(
    junk.map((text) => JSON.stringify(text.padEnd(1, ' '))),
    fc.json(),
    fc.constantFrom('null', 'true', '1.5', '1e400', '9223372036854775808', '[]', '{}', '""'),
  );
  const bad = fc.oneof(
    fc
      .tuple(valid(resolve('NewPet')), fc.constantFrom('name', 'categoryId'))
      .map(([body, name]) => without(body, name)),
    fc.tuple(valid(resolve('NewPet')), fc.string(), value).map(([body, name, other]) => {
      return `${body.slice(0, -1)},${JSON.stringify(`x${name}`)}:${other}}`;
    }),
    value
      .filter((text) => text !== '1')
      .map((other) => `{"name":"Rex","categoryId":${/^-?\d+$/.test(other) ? 'null' : other}}`),
    value
      .filter((text) => !text.startsWith('"'))
      .map((other) => `{"name":${other},"categoryId":1}`),
    value.filter((text) => !text.startsWith('{')),
    fc.string({ unit: 'binary' }).filter((text) => !text.startsWith('{')),
  );
  await fc.assert(
    fc.asyncProperty(bad, async (body) => {
      const reply = await store.create(body);
      // 1e2, 3.0 and the like are integers.
      if (reply.status === 201) expect(body).toMatch(/"categoryId":-?[0-9.]+[eE.]/);
      else refused(reply, [400]);
    }),
    RUNS,
  );
});

test('getPet answers any id as described', async () => {
  const id = fc.oneof(
    valid({ type: 'integer', format: 'int64' }),
    junk.filter((text) => /[^./\\]/.test(text)),
  );
  await fc.assert(
    fc.asyncProperty(id, async (petId) => {
      const isInt64 = /^-?\d{1,18}$/.test(petId);
      const reply = await store.fetch(`/v1/pets/${encodeURIComponent(petId.toWellFormed())}`);
      refused(reply, isInt64 ? [200, 404] : [400, 404]);
    }),
    RUNS,
  );
});
